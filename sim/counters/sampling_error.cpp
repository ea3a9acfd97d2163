// SPDX-License-Identifier: Apache-2.0
#include "counters/sampling_error.hpp"

#include <array>
#include <cmath>

namespace l2lens {
namespace {

struct CourseError {
    std::string_view part_of_id;
    double error;
};

// The first that fits counts. Root mean squares of what `--sample auto` and `--sample 1` differ by beyond the
// slices' own differences: `docs/performance --sampling`.
constexpr std::array<CourseError, 8> kCourseErrors{{
    {"request_sectors_op_read_coalescable", 0.0002},
    {"coalesc", 0.06},
    {"srcunit_ltcfabric_lookup", 0.05},
    {"fill_device", 0.004},
    {"dram__", 0.004},
    {"op_write", 0.002},
    {"time_duration", 0.01},
    {"cycles", 0.01},
}};
constexpr double kOther = 0.015;
constexpr double kPointsOfRate = 0.7;

std::uint64_t demand(const Events& events) {
    return events[Event::CoalescableSectors] + events[Event::TexWriteSectors];
}

}  // namespace

double course_error(std::string_view id) {
    if (id.find(".pct") != std::string_view::npos || id.find("_pct") != std::string_view::npos)
        return kPointsOfRate;
    for (const CourseError& course : kCourseErrors) {
        if (id.find(course.part_of_id) != std::string_view::npos) return course.error;
    }
    return kOther;
}

std::map<std::string, double> sampling_errors(MetricKind kind, std::span<const Events> lanes, int all_lanes,
                                              const RunTotals& totals) {
    const auto n = static_cast<double>(lanes.size());
    if (lanes.empty() || static_cast<int>(lanes.size()) >= all_lanes) return {};
    Events all;
    for (const Events& lane : lanes) all += lane;
    const std::map<std::string, double> values = evaluate_metrics(kind, all, totals);

    std::map<std::string, double> sum_of_squares;
    for (const Events& lane : lanes) {
        if (lanes.size() == 1) break;
        Events others;
        for (std::size_t i = 0; i < others.value.size(); ++i) others.value[i] = all.value[i] - lane.value[i];
        RunTotals without = totals;
        without.scale *= static_cast<double>(demand(all)) / static_cast<double>(demand(others));
        const std::map<std::string, double> values_without = evaluate_metrics(kind, others, without);
        for (const auto& [id, value] : values_without) {
            const auto found = values.find(id);
            if (found != values.end())
                sum_of_squares[id] += (value - found->second) * (value - found->second);
        }
    }

    const double left_out = 1 - n / all_lanes;
    std::map<std::string, double> errors;
    for (const auto& [id, value] : values) {
        const Metric* metric = find_metric(id);
        const bool rate = metric != nullptr && metric->unit == MetricUnit::Percent;
        const double course = course_error(id) * (rate ? 1 : std::abs(value));
        errors[id] = std::sqrt(sum_of_squares[id] * (n - 1) / n * left_out + course * course);
    }
    return errors;
}

}  // namespace l2lens
