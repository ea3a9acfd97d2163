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

std::string where_of(const toml::key& key, const std::string& name) {
    return fmt::format("{}:{}: ", name, key.source().begin.line);
}

void add_tolerance(Tolerances& tolerances, const toml::key& counter, const toml::node& limits,
                   const std::string& name) {
    const std::string where = where_of(counter, name);
    if (!limits.is_table()) throw BadInput(where + "a table [\"COUNTER\"] belongs here");
    tolerances.emplace(known_counter(counter.str(), where), parse_tolerance(*limits.as_table(), name));
}

}  // namespace

Accepted parse_accepted(std::string_view text, const std::string& name) try {
    Accepted accepted;
    const toml::table document = toml::parse(text, name);
    for (const auto& [key, value] : document) {
        if (!key.str().ends_with(".csv")) {
            add_tolerance(accepted.any, key, value, name);
            continue;
        }
        if (!value.is_table())
            throw BadInput(where_of(key, name) + "tables [\"" + std::string(key.str()) +
                           "\".\"COUNTER\"] belong here");
        Tolerances& of_file = accepted.of_file[std::string(key.str())];
        for (const auto& [counter, limits] : *value.as_table()) add_tolerance(of_file, counter, limits, name);
    }
    return accepted;
} catch (const toml::parse_error& error) {
    throw BadInput(fmt::format("{}:{}: {}", name, error.source().begin.line, error.description()));
}

const Tolerances& Accepted::of(std::span<const RecordedRow> rows) const {
    const Tolerances* found = nullptr;
    for (const RecordedRow& row : rows) {
        const auto own = of_file.find(row.file.substr(row.file.find_last_of('/') + 1));
        if (own == of_file.end() || (found != nullptr && found != &own->second)) return any;
        found = &own->second;
    }
    return found == nullptr ? any : *found;
}

const Accepted& accepted_tolerances() {
    static const Accepted accepted = parse_accepted(kAcceptedText, "traces/h200/accepted.toml");
    return accepted;
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
