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
    const auto own = find_counter(row.replayed->own, metric.id);
    const auto recorded = find_counter(row.replayed->recorded, metric.id);
    if (std::isnan(error) || !own || !recorded) return std::nullopt;
    const std::string id(metric.id);
    const double unit =
        metric.unit == MetricUnit::Percent ? 1 : 100 / row.recorded.measured.at(id);  // per count
    ErrorCauses causes;
    causes.schedule = (*own - *recorded) * unit;
    causes.memory = error - causes.schedule;
    causes.layout = (*own - row.predicted.at(id)) * unit;
    return causes;
}

std::map<std::string, CauseStats> cause_stats(std::span<const ValidationRow> rows) {
    std::map<std::string, CauseStats> all;
    for (const Metric& metric : all_metrics()) {
        if (metric.kind != MetricKind::Hardware) continue;
        std::vector<double> schedule, memory, layout;
        for (const ValidationRow& row : rows) {
            const auto causes = causes_of(row, metric);
            if (!causes) continue;
            schedule.push_back(causes->schedule);
            memory.push_back(causes->memory);
            layout.push_back(causes->layout);
        }
        if (schedule.empty()) continue;
        all.emplace(metric.id, CauseStats{schedule.size(), median_size(schedule), median_size(memory),
                                          median_size(layout)});
    }
    return all;
}

}  // namespace l2lens
