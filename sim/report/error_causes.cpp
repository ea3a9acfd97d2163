// SPDX-License-Identifier: Apache-2.0
#include "report/error_causes.hpp"

#include <cmath>
#include <vector>

#include "report/statistics.hpp"

namespace l2lens {
namespace {

bool follows_from_time(const Metric& metric) {
    return metric.unit == MetricUnit::Nanoseconds || metric.unit == MetricUnit::Microseconds ||
           metric.unit == MetricUnit::Cycles;
}

double median_size(std::vector<double> values) {
    for (double& value : values) value = std::abs(value);
    return percentile(values, 0.5);
}

}  // namespace

std::optional<ErrorCauses> causes_of(const ValidationRow& row, const Metric& metric) {
    if (!row.replayed || follows_from_time(metric)) return std::nullopt;
    const double error = prediction_error(row, metric);
    const double memory = error_of(row.replayed->counters, row, metric);
    if (std::isnan(error) || std::isnan(memory)) return std::nullopt;
    return ErrorCauses{error - memory, memory};
}

std::map<std::string, CauseStats> cause_stats(std::span<const ValidationRow> rows) {
    std::map<std::string, CauseStats> all;
    for (const Metric& metric : all_metrics()) {
        if (metric.kind != MetricKind::Hardware) continue;
        std::vector<double> schedule, memory;
        for (const ValidationRow& row : rows) {
            const auto causes = causes_of(row, metric);
            if (!causes) continue;
            schedule.push_back(causes->schedule);
            memory.push_back(causes->memory);
        }
        if (schedule.empty()) continue;
        all.emplace(metric.id, CauseStats{schedule.size(), median_size(schedule), median_size(memory)});
    }
    return all;
}

}  // namespace l2lens
