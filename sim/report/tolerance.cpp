// SPDX-License-Identifier: Apache-2.0
// The accepted errors: a file shipped with the recorded data, or --tolerance.
#include <charconv>

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "report/accepted_text.hpp"
#include "report/validation.hpp"

namespace l2lens {
namespace {

std::vector<std::string> hardware_counters() {
    std::vector<std::string> ids;
    for (const Metric& metric : all_metrics()) {
        if (metric.kind == MetricKind::Hardware) ids.emplace_back(metric.id);
    }
    return ids;
}

std::string known_counter(std::string_view name, const std::string& where) {
    const Metric* metric = find_metric(name);
    if (metric != nullptr && metric->kind == MetricKind::Hardware) return std::string(name);
    const std::string nearest = nearest_name(name, hardware_counters());
    throw BadInput(
        fmt::format("{}unknown counter '{}'{}", where, name,
                    nearest.empty() ? "; see l2lens explain" : "; did you mean '" + nearest + "'?"));
}

double limit(const toml::node& value, const std::string& where) {
    const auto number = value.value<double>();
    if (!value.is_number() || !(*number >= 0)) throw BadInput(where + "a limit is a number, at least 0");
    return *number;
}

Tolerance parse_tolerance(const toml::table& table, const std::string& name) {
    Tolerance tolerance;
    for (const auto& [key, value] : table) {
        const std::string where = fmt::format("{}:{}: ", name, key.source().begin.line);
        if (key == "median") {
            tolerance.median = limit(value, where);
        } else if (key == "p90") {
            tolerance.p90 = limit(value, where);
        } else if (key == "mean") {
            tolerance.mean = limit(value, where);
        } else {
            const std::vector<std::string> keys{"median", "p90", "mean"};
            throw BadInput(
                fmt::format("{}unknown key '{}'{}", where, key.str(), suggestion(key.str(), keys)));
        }
    }
    return tolerance;
}

}  // namespace

Tolerances parse_accepted(std::string_view text, const std::string& name) try {
    Tolerances tolerances;
    const toml::table document = toml::parse(text, name);
    for (const auto& [key, value] : document) {
        const std::string where = fmt::format("{}:{}: ", name, key.source().begin.line);
        if (!value.is_table()) throw BadInput(where + "a table [\"COUNTER\"] belongs here");
        tolerances.emplace(known_counter(key.str(), where), parse_tolerance(*value.as_table(), name));
    }
    return tolerances;
} catch (const toml::parse_error& error) {
    throw BadInput(fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
}

const Tolerances& accepted_tolerances() {
    static const Tolerances tolerances = parse_accepted(kAcceptedText, "traces/h200/accepted.toml");
    return tolerances;
}

Tolerances parse_tolerances(std::string_view text) {
    Tolerances tolerances;
    while (true) {
        const std::string_view item = text.substr(0, text.find(','));
        const std::size_t equals = item.find('=');
        if (equals == std::string_view::npos) {
            throw BadInput(
                fmt::format("--tolerance '{}': COUNTER=P belongs here, as in "
                            "lts__d_sectors_fill_device.sum=2",
                            item));
        }
        const std::string_view number = item.substr(equals + 1);
        double value = 0;
        const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
        if (error != std::errc{} || end != number.data() + number.size() || !(value >= 0 && value < 1e6)) {
            throw BadInput(
                fmt::format("--tolerance '{}': '{}' is not a number of percent, at least 0", item, number));
        }
        tolerances[known_counter(item.substr(0, equals), "--tolerance: ")].median = value;
        if (item.size() == text.size()) return tolerances;
        text.remove_prefix(item.size() + 1);
    }
}

}  // namespace l2lens
