// SPDX-License-Identifier: Apache-2.0
#include "counters/sampling_error.hpp"

#include <array>
#include <cmath>

#include "base/units.hpp"

namespace l2lens {
namespace {

struct CourseError {
    std::string_view part_of_id;
    double error;
};

// The first that fits counts. Root mean squares of what runs of a 12th and a 16th of the slices and of all of
// them differ by, over 18 launches of GEMMs of 2 to 8 million line requests; larger ones differ by less.
// DRAM's is that of recorded launches that reuse just what the L2 holds: others differ by half a percent.
constexpr std::array<CourseError, 25> kCourseErrors{{
    {"channel_max_over_mean", 0},
    {"closed_form", 0},
    {"flat_lru", 0},
    {"ctas_per_sm", 0},
    {"waves", 0},
    {"merged_pct", 2.0},  // points, as all rates
    {"pct", 0.7},
    {"coalescable", 0.0002},
    {"xbar2", 0.0002},
    {"coalescing_achieved", 0.05},
    {"ltcfabric_lookup_miss", 0.15},
    {"ltcfabric_lookup_hit", 0.055},
    {"srcunit_tex_lookup_miss", 0.035},
    {"srcnode_gpc_lookup_miss", 0.035},
    {"lookup_miss", 0.02},
    {"lookup_hit", 0.05},
    {"fill_device", 0.02},
    {"dram__sectors_read", 0.02},
    {"dram__bytes_read", 0.02},
    {"dram_read", 0.02},
    {"dram__sectors_write", 0.03},
    {"dram_write", 0.03},
    {"op_write", 0.003},
    {"time_", 0.025},
    {"cycles", 0.025},
}};
constexpr double kOther = 0.045;
// What is written back, in shares of what was written: a small difference of large numbers, and not of
// itself.
constexpr double kOfWritten = 0.02;

std::uint64_t demand(const Events& events) {
    return events[Event::CoalescableSectors] + events[Event::TexWriteSectors];
}

double written_back_error(std::string_view id, const Events& all, const RunTotals& totals) {
    const double sectors = kOfWritten * static_cast<double>(all[Event::TexWriteSectors]) * totals.scale;
    if (id.find("dram__sectors_write") != std::string_view::npos) return sectors;
    return id.find("dram_write") != std::string_view::npos ? sectors * kSectorBytes : 0;
}

}  // namespace

double course_error(std::string_view id) {
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
        const double written_back = written_back_error(id, all, totals);
        errors[id] = std::sqrt(sum_of_squares[id] * (n - 1) / n * left_out + course * course +
                               written_back * written_back);
    }
    return errors;
}

}  // namespace l2lens
