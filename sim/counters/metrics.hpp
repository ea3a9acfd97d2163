// SPDX-License-Identifier: Apache-2.0
// One table of everything the model reports: each counter and metric with its unit, its formula in the
// vendor's own counters, what it means and what to make of it. The columns of the table, the JSON, the CSV
// and `l2lens explain` are made from these rows; a new metric is one row here (and one of
// sampling_error.cpp, where its error is not that of lookups).
#pragma once

#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "counters/counters.hpp"

namespace l2lens {

inline constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

// What a run knows besides its events. Unknown values stay kUnknown and give no counter.
struct RunTotals {
    double scale = 1;  // what one counted event stands for: the sampling factor over the number of seeds
    double time_ns = kUnknown;
    double sm_cycles = kUnknown;  // active cycles of an SM, mean over the SMs
    int slices = 0;
    double fence_sectors = 0;  // lookups of fences in the SMs' own partitions; as many in the other one
    double l2_ghz = kUnknown;
    double channel_max_over_mean = kUnknown;
    double closed_form_hit_rate_pct = kUnknown;
    double flat_lru_hit_rate_pct = kUnknown;
    double ctas_per_sm = kUnknown;
    double waves = kUnknown;
};

enum class MetricKind {
    Hardware,  // a counter of the GPU, under the vendor's name
    Neutral,   // the same on every vendor's GPU
};

// How a value reads: decides formatting and whether errors are in percent or in points.
enum class MetricUnit { Sectors, Requests, Bytes, Percent, Nanoseconds, Microseconds, Cycles, Ratio, Count };

struct Metric {
    std::string_view id;  // "lts__t_sectors.sum"
    MetricKind kind;
    MetricUnit unit;
    std::string_view formula;  // an identity of the vendor's counters, or how the metric follows from them
    std::string_view meaning;
    std::string_view hint;                             // what to make of a high or low value; may be empty
    double (*value)(const Events&, const RunTotals&);  // kUnknown when it cannot be said
};

// In the order of the columns: hardware counters, then neutral metrics.
std::span<const Metric> all_metrics();

// The row of `id`, or nullptr.
const Metric* find_metric(std::string_view id);

std::string_view unit_name(MetricUnit unit);

// Every known value of `kind`, by id; what is unknown is absent.
std::map<std::string, double> evaluate_metrics(MetricKind kind, const Events& events,
                                               const RunTotals& totals);

}  // namespace l2lens
