// SPDX-License-Identifier: Apache-2.0
#include "report/repeat_noise.hpp"

#include <cmath>
#include <optional>
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

std::optional<double> mean_of(const Readings& readings, std::string_view counter) {
    const std::vector<double> values = values_of(readings, counter);
    return values.empty() ? std::nullopt : std::optional(mean(values));
}

// Sectors of the output, from those that the L2 looked up for writes: on two partitions half of them twice.
std::optional<double> output_sectors(const Readings& readings) {
    const auto written = mean_of(readings, "lts__t_sectors_op_write.sum");
    return written ? std::optional(*written / 1.5) : std::nullopt;
}

// Adds the deviations of one configuration's readings; false when there is nothing to compare.
bool add_deviations(const Readings& readings, const Metric& metric, std::vector<double>& deviations) {
    const std::vector<double> values = values_of(readings, metric.id);
    if (values.size() < 2) return false;
    const double middle = mean(values);
    if (middle == 0 || is_negligible(metric, middle, mean_of(readings, "lts__t_sectors.sum"))) return false;
    if (stays_in_l2(metric, middle, output_sectors(readings))) return false;
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
