// SPDX-License-Identifier: Apache-2.0
#include "report/repeat_noise.hpp"

#include <cmath>
#include <vector>

#include "report/statistics.hpp"
#include "report/validation_row.hpp"

namespace l2lens {
namespace {

using Readings = std::vector<const RecordedRow*>;  // of one configuration

std::vector<double> values_of(const Readings& readings, std::string_view counter) {
    std::vector<double> values;
    for (const RecordedRow* row : readings) {
        if (const auto value = find_counter(row->measured, counter)) values.push_back(*value);
    }
    return values;
}

// Adds the deviations of one configuration's readings; false when there is nothing to compare.
bool add_deviations(const Readings& readings, const Metric& metric, std::vector<double>& deviations) {
    const std::vector<double> values = values_of(readings, metric.id);
    if (values.size() < 2) return false;
    const double middle = mean(values);
    const std::vector<double> sectors = values_of(readings, "lts__t_sectors.sum");
    const auto l2_sectors = sectors.empty() ? std::nullopt : std::optional(mean(sectors));
    if (middle == 0 || is_negligible(metric, middle, l2_sectors)) return false;
    for (const double value : values) {
        deviations.push_back(metric.unit == MetricUnit::Percent ? std::abs(value - middle)
                                                                : 100 * std::abs(value / middle - 1));
    }
    return true;
}

}  // namespace

std::map<std::string, NoiseStats> repeat_noise(std::span<const RecordedRow> rows) {
    std::map<RowKey, Readings> configurations;
    for (const RecordedRow& row : rows) {
        if (row.order != "random") configurations[row_key(row)].push_back(&row);
    }
    std::map<std::string, NoiseStats> noise;
    for (const Metric& metric : all_metrics()) {
        std::vector<double> deviations;
        NoiseStats stats;
        for (const auto& [key, readings] : configurations)
            if (add_deviations(readings, metric, deviations)) ++stats.configurations;
        if (deviations.empty()) continue;
        stats.readings = deviations.size();
        stats.median_abs = percentile(deviations, 0.5);
        stats.p90_abs = percentile(deviations, 0.9);
        noise.emplace(metric.id, stats);
    }
    return noise;
}

}  // namespace l2lens
