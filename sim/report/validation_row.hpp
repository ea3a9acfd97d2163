// SPDX-License-Identifier: Apache-2.0
// One configuration of a validation: what was measured and what the model says, and what makes two rows
// alike.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "counters/metrics.hpp"
#include "report/recorded_csv.hpp"

namespace l2lens {

using Counters = std::map<std::string, double>;

// The row predicted once more, with each CTA on the SM and from the time that the GPU recorded.
struct ReplayedRow {
    Counters counters;
    double cta_time_error_pct = 0;  // median over the CTAs: how much longer they take than recorded
};

struct ValidationRow {
    RecordedRow recorded;  // `measured` is the mean of the repeats
    int repeats = 1;
    Counters predicted;        // hardware counters
    Counters standard_errors;  // of those, when not all slices were simulated
    Counters metrics;          // neutral metrics, what simpler models say among them
    int predicted_ctas_per_sm = 0;
    std::optional<ReplayedRow> replayed;  // where a recorded schedule was given
};

// Rows alike but for the order have one group key; repeats of one configuration have one row key.
using GroupKey = std::tuple<std::string, std::string, std::vector<std::pair<std::string, std::string>>, Mode>;
using RowKey = std::tuple<GroupKey, std::string>;
GroupKey group_key(const RecordedRow& row);
RowKey row_key(const RecordedRow& row);

// The value of a counter, if there is one.
std::optional<double> find_counter(const Counters& counters, std::string_view name);

// Is a count of `value` (or less) of this metric too small to speak of, beside `l2_sectors`, the sectors
// that the L2 looked up?
bool is_negligible(const Metric& metric, double value, std::optional<double> l2_sectors);

// Do `writes` sectors of DRAM writes leave most of an output of `output` sectors in the L2? What is written
// then depends on when the counters were read, and is neither judged nor called noise.
bool stays_in_l2(const Metric& metric, double writes, std::optional<double> output);

// Error of a prediction: percent of the measured value, of the least that is not negligible where it is, or
// percentage points for what is itself in percent. kUnknown when it cannot be said: not measured, not
// predicted, measured as zero, both negligible, or DRAM writes of a row most of whose output stays in the L2.
double prediction_error(const ValidationRow& row, const Metric& metric);

// Was 0 counted of what is predicted in numbers worth mentioning? Such a pair has no error.
bool counted_nothing(const ValidationRow& row, const Metric& metric);

// The error for other predicted counters than the row's.
double error_of(const Counters& predicted, const ValidationRow& row, const Metric& metric);

}  // namespace l2lens
