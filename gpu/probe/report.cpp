// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/report.hpp"

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <sstream>

#include "machine/parameters.hpp"

namespace l2lens::gpu {
namespace {

std::string confidence_name(Confidence confidence) {
    switch (confidence) {
        case Confidence::Measured:
            return "measured";
        case Confidence::Documented:
            return "documented";
        case Confidence::Inferred:
            break;
    }
    return "inferred";
}

std::string quoted(const std::string& text) {
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') result += '\\';
        result += c;
    }
    return result + "\"";
}

std::string source_in(const Machine& base, std::string_view key) {
    for (const Parameter& parameter : base.parameters)
        if (parameter.key == key) return parameter.source;
    return "";
}

Reading assumed(const ParameterInfo& parameter, const Machine& base) {
    return {std::string(parameter.key), value_text(base, parameter),
            "not measured here; as " + base.name + ": " + source_in(base, parameter.key),
            Confidence::Inferred};
}

bool respects(const Reading& bound, const std::string& value) {
    return std::strtod(value.c_str(), nullptr) >= std::strtod(bound.value.c_str(), nullptr);
}

Reading choose(const ParameterInfo& parameter, const ProbeReport& report, const Machine& base) {
    const Reading* reading = report.find(std::string(parameter.key));
    if (!reading) return assumed(parameter, base);
    if (!reading->at_least || base.chip != report.chip || !respects(*reading, value_text(base, parameter)))
        return *reading;
    Reading kept = assumed(parameter, base);
    kept.source = "at least " + reading->value + " here (" + reading->source + "); as " + base.name + ": " +
                  source_in(base, parameter.key);
    return kept;
}

// Long lists get a table of their own, one list a line.
void write_list(std::ostream& out, const ParameterInfo& parameter, const Reading& reading) {
    std::string value = reading.value;
    for (std::size_t at = 0; (at = value.find("], ", at)) != std::string::npos; at += 3)
        value.replace(at, 3, "],\n    ");
    out << "\n[" << parameter.key << "]\nvalue = " << value << "\nsource = " << quoted(reading.source)
        << "\nconfidence = " << quoted(confidence_name(reading.confidence)) << '\n';
}

void write_number(std::ostream& out, const ParameterInfo& parameter, const Reading& reading) {
    out << parameter.name() << " = { value = " << reading.value;
    if (!parameter.unit.empty()) out << ", unit = " << quoted(std::string(parameter.unit));
    out << ", source = " << quoted(reading.source)
        << ", confidence = " << quoted(confidence_name(reading.confidence)) << " }\n";
}

}  // namespace

const Reading* ProbeReport::find(const std::string& key) const {
    const auto found =
        std::find_if(readings.begin(), readings.end(), [&](const Reading& r) { return r.key == key; });
    return found == readings.end() ? nullptr : &*found;
}

std::string machine_toml(const ProbeReport& report, const Machine& base) {
    std::ostringstream out;
    out << "# SPDX-License-Identifier: Apache-2.0\n# " << report.description
        << ", as `l2lens gpu probe` read it.\n";
    for (const std::string& note : report.notes) out << "# " << note << '\n';
    for (const std::string& gap : report.undetermined) out << "# Not determined: " << gap << '\n';
    out << "\ndescription = " << quoted(report.description) << "\nchip = " << quoted(report.chip) << '\n';
    std::string section;
    for (const ParameterInfo& parameter : parameter_table()) {
        if (section != parameter.section()) {
            section = parameter.section();
            out << "\n[" << section << "]\n";
        }
        const Reading chosen = choose(parameter, report, base);
        if (std::holds_alternative<TopologyList>(parameter.field))
            write_list(out, parameter, chosen);
        else
            write_number(out, parameter, chosen);
    }
    return out.str();
}

}  // namespace l2lens::gpu
