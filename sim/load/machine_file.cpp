// SPDX-License-Identifier: Apache-2.0
// The parameter table (machine/parameters.hpp) drives everything here: this file only knows how TOML looks.
#include "load/machine_file.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include <toml++/toml.h>
#include <xxhash.h>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "load/model_path.hpp"
#include "load/text_file.hpp"
#include "machine/check.hpp"
#include "machine/parameters.hpp"
#include "machine/partition_mode.hpp"
#include "machine/topology.hpp"

namespace l2lens {
namespace {

constexpr std::pair<std::string_view, Confidence> kConfidences[] = {{"measured", Confidence::Measured},
                                                                    {"documented", Confidence::Documented},
                                                                    {"inferred", Confidence::Inferred}};

int line_of(const toml::source_region& source) {
    return static_cast<int>(source.begin.line);
}
int line_of(const toml::node& node) {
    return line_of(node.source());
}

std::string in_quotes(std::string_view key) {
    return "'" + std::string(key) + "'";
}

std::string type_name(const toml::node& node) {
    switch (node.type()) {
        case toml::node_type::table:
            return "a table";
        case toml::node_type::array:
            return "a list";
        case toml::node_type::string:
            return "text";
        case toml::node_type::integer:
            return "a whole number";
        case toml::node_type::floating_point:
            return std::isfinite(node.value_or(0.0)) ? "a decimal number" : "nan or inf";
        case toml::node_type::boolean:
            return "true or false";
        default:
            return "a date";
    }
}

// Fills one Machine from one parsed file; a member function per level of the file.
class Reader {
public:
    Reader(const toml::table& root, const std::string& file) : root_(root), file_(file) {
        machine_.file = file;
    }

    Machine read() {
        check_keys(root_, "", top_level_keys());
        machine_.description = text(root_, "", "description");
        machine_.chip = text(root_, "", "chip");
        for (const ParameterInfo& parameter : parameter_table()) read_parameter(parameter);
        finish_topology();
        report(check(machine_));
        std::ranges::stable_sort(machine_.parameters, {}, &Parameter::line);
        return std::move(machine_);
    }

private:
    [[noreturn]] void fail(int line, const std::string& message) const {
        throw BadInput(file_ + ":" + std::to_string(line) + ": " + message);
    }

    static std::vector<std::string> top_level_keys() {
        std::vector<std::string> keys = {"description", "chip"};
        for (const ParameterInfo& parameter : parameter_table())
            if (keys.back() != parameter.section()) keys.emplace_back(parameter.section());
        return keys;
    }

    static std::vector<std::string> keys_of_section(std::string_view section) {
        std::vector<std::string> keys;
        for (const ParameterInfo& parameter : parameter_table())
            if (parameter.section() == section) keys.emplace_back(parameter.name());
        return keys;
    }

    // `prefix` is what stands before a key in messages: "latency.".
    void check_keys(const toml::table& table, const std::string& prefix,
                    const std::vector<std::string>& known) const {
        std::optional<std::pair<int, std::string>> first;  // in the file: toml++ sorts keys by name
        for (const auto& [key, node] : table) {
            const std::string name(key.str());
            const int line = line_of(key.source());
            if (std::ranges::find(known, name) == known.end() && (!first || line < first->first))
                first = {line, name};
        }
        if (first)
            fail(first->first,
                 "unknown key '" + prefix + first->second + "'" + suggestion(first->second, known));
    }

    const toml::node& member(const toml::table& table, const std::string& prefix,
                             std::string_view key) const {
        if (const toml::node* node = table.get(key)) return *node;
        fail(std::max(line_of(table), 1), in_quotes(prefix + std::string(key)) + " is missing");
    }

    std::string text(const toml::table& table, const std::string& prefix, std::string_view key) const {
        const toml::node& node = member(table, prefix, key);
        if (const auto* string = node.as_string()) return string->get();
        fail(line_of(node), in_quotes(prefix + std::string(key)) + " must be text, not " + type_name(node));
    }

    // Not there, though it need not be.
    bool is_left_out(const ParameterInfo& parameter) const {
        if (!parameter.optional) return false;
        const toml::node* section = root_.get(parameter.section());
        return section == nullptr ||
               (section->is_table() && !section->as_table()->contains(parameter.name()));
    }

    const toml::table& section_of(const ParameterInfo& parameter) {
        const std::string section(parameter.section());
        const toml::node& node = member(root_, "", section);
        const toml::table* table = node.as_table();
        if (table == nullptr) fail(line_of(node), "'" + section + "' must be a section, [" + section + "]");
        if (std::exchange(checked_section_, section) != section)
            check_keys(*table, section + ".", keys_of_section(section));
        return *table;
    }

    void read_parameter(const ParameterInfo& parameter) {
        if (is_left_out(parameter)) return;
        const std::string key(parameter.key);
        const toml::table& section = section_of(parameter);
        const toml::node& node = member(section, std::string(parameter.section()) + ".", parameter.name());
        const toml::table* table = node.as_table();
        if (table == nullptr)
            fail(line_of(node), "'" + key + "' must say where it is from: { value = ..., unit = \"" +
                                    std::string(parameter.unit) +
                                    "\", source = \"...\", confidence = \"...\" }");
        check_keys(*table, key + ".", {"value", "unit", "source", "confidence"});
        check_unit(*table, parameter);
        const toml::node& value = member(*table, key + ".", "value");
        std::visit([&](auto field) { set(value, parameter, field); }, parameter.field);
        machine_.parameters.push_back({key, "", std::string(parameter.unit),
                                       text(*table, key + ".", "source"), confidence(*table, key + "."),
                                       line_of(node)});
    }

    void check_unit(const toml::table& table, const ParameterInfo& parameter) const {
        const std::string key(parameter.key), unit(parameter.unit);
        if (!table.contains("unit")) {
            if (!unit.empty()) fail(line_of(table), "'" + key + ".unit' is missing; it is '" + unit + "'");
        } else if (const std::string given = text(table, key + ".", "unit"); given != unit) {
            const std::string right = unit.empty() ? "nothing (a count)" : "'" + unit + "'";
            fail(line_of(*table.get("unit")),
                 "the unit of '" + key + "' is " + right + ", not '" + given + "'");
        }
    }

    Confidence confidence(const toml::table& table, const std::string& prefix) const {
        const std::string word = text(table, prefix, "confidence");
        for (const auto& [name, value] : kConfidences)
            if (word == name) return value;
        fail(line_of(*table.get("confidence")),
             "'" + prefix + "confidence' is measured, documented or inferred, not '" + word + "'");
    }

    [[noreturn]] void wrong_type(const toml::node& node, const ParameterInfo& parameter,
                                 const char* right) const {
        fail(line_of(node), in_quotes(parameter.key) + " must be " + right + ", not " + type_name(node));
    }

    double in_range(const toml::node& node, const ParameterInfo& parameter, double value) const {
        if (const std::string problem = range_problem(parameter, value); !problem.empty())
            fail(line_of(node), in_quotes(parameter.key) + " " + problem);
        return value;
    }

    std::int64_t whole_number(const toml::node& node, const ParameterInfo& parameter) const {
        const auto value = node.value_exact<std::int64_t>();
        if (!value) wrong_type(node, parameter, "a whole number");
        in_range(node, parameter, static_cast<double>(*value));
        return *value;
    }

    void set(const toml::node& node, const ParameterInfo& parameter, Field<double> field) {
        if (!node.is_number()) wrong_type(node, parameter, "a number");
        // Not node.value<double>(), which is nothing for a whole number that no double holds exactly.
        const auto* whole = node.as_integer();
        const double value = whole ? static_cast<double>(whole->get()) : node.as_floating_point()->get();
        field(machine_) = in_range(node, parameter, value);
    }
    void set(const toml::node& node, const ParameterInfo& parameter, Field<int> field) {
        field(machine_) = static_cast<int>(whole_number(node, parameter));
    }
    void set(const toml::node& node, const ParameterInfo& parameter, Field<std::int64_t> field) {
        field(machine_) = whole_number(node, parameter) * parameter.scale;
    }
    void set(const toml::node& node, const ParameterInfo& parameter, Field<bool> field) {
        const auto value = node.value_exact<bool>();
        if (!value) wrong_type(node, parameter, "true or false");
        field(machine_) = *value;
    }
    void set(const toml::node& node, const ParameterInfo& parameter,
             Field<std::vector<std::uint64_t>> field) {
        const char* right = "a list of lists of bits";
        field(machine_).clear();
        for (const toml::node& bits : elements(node, parameter, right))
            field(machine_).push_back(mask(bits, parameter, right));
    }
    void set(const toml::node& node, const ParameterInfo& parameter, TopologyList list) {
        if (list == TopologyList::PartitionOfGpc) topology_.partition_of_gpc = numbers(node, parameter);
        if (list == TopologyList::FirstWave) topology_.first_wave = numbers(node, parameter);
        if (list != TopologyList::SmsOfGpc) return;
        for (const toml::node& sms : elements(node, parameter, "a list with a list of SMs for each GPC"))
            topology_.sms_of_gpc.push_back(numbers(sms, parameter));
    }

    const toml::array& elements(const toml::node& node, const ParameterInfo& parameter,
                                const char* right) const {
        const toml::array* array = node.as_array();
        if (array == nullptr) wrong_type(node, parameter, right);
        return *array;
    }

    std::vector<int> numbers(const toml::node& node, const ParameterInfo& parameter) const {
        std::vector<int> list;
        for (const toml::node& item : elements(node, parameter, "a list of whole numbers"))
            list.push_back(static_cast<int>(whole_number(item, parameter)));
        return list;
    }

    // [12, 13, 15] -> 0xB000. A mask may also stand as one number.
    std::uint64_t mask(const toml::node& node, const ParameterInfo& parameter, const char* right) const {
        if (const auto number = node.value_exact<std::int64_t>()) return static_cast<std::uint64_t>(*number);
        std::uint64_t bits = 0;
        for (const toml::node& item : elements(node, parameter, right)) {
            const std::uint64_t bit = std::uint64_t{1} << whole_number(item, parameter);
            if (bits & bit) fail(line_of(item), in_quotes(parameter.key) + " lists a bit twice");
            bits |= bit;
        }
        return bits;
    }

    void finish_topology() {
        report(check(topology_, machine_.partitions));
        place_sms(topology_, machine_);
        renew_values(machine_);
    }

    // One line at a time: the first problem, at the line of its parameter.
    void report(const std::vector<Problem>& problems) const {
        if (problems.empty()) return;
        const auto& [key, message] = problems.front();
        const auto parameter = std::ranges::find(machine_.parameters, key, &Parameter::key);
        fail(parameter == machine_.parameters.end() ? 1 : parameter->line, in_quotes(key) + " " + message);
    }

    const toml::table& root_;
    const std::string& file_;
    Machine machine_;
    Topology topology_;
    std::string checked_section_;
};

// The parser's own complaint, on one line.
std::string one_line(std::string_view text) {
    std::string line(text);
    std::ranges::replace(line, '\n', ' ');
    return line;
}

toml::table parse(std::string_view text, const std::string& file) {
    try {
        return toml::parse(text, std::string_view(file));
    } catch (const toml::parse_error& error) {
        throw BadInput(file + ":" + std::to_string(line_of(error.source())) + ": " +
                       one_line(error.description()));
    }
}

}  // namespace

Machine parse_machine(std::string_view text, const std::string& file_name) {
    const toml::table root = parse(text, file_name);
    Machine machine = Reader(root, file_name).read();
    machine.name = std::filesystem::path(file_name).stem().string();
    machine.file_hash = XXH64(text.data(), text.size(), 0);
    return machine;
}

Machine load_machine(const std::string& name_or_path) {
    // "mi300x:cpx": a partition of it. A path may hold a colon of its own.
    const std::size_t colon = name_or_path.rfind(':');
    if (colon != std::string::npos && name_or_path.find('/', colon) == std::string::npos) {
        Machine machine = load_machine(name_or_path.substr(0, colon));
        take_partition(machine, name_or_path.substr(colon + 1));
        return machine;
    }
    const std::string file = find_model_file("gpus", name_or_path, ".toml").string();
    return parse_machine(read_text_file(file), file);
}

}  // namespace l2lens
