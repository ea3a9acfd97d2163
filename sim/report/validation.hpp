// SPDX-License-Identifier: Apache-2.0
// Predictions against measurements: which rows to predict, how far off they are, and whether that is
// accepted.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "counters/metrics.hpp"
#include "report/recorded_csv.hpp"
#include "report/statistics.hpp"

namespace l2lens {

// One configuration: what was measured, averaged over its repeats, and what the model says.
struct ValidationRow {
    RecordedRow recorded;  // `measured` is the mean of the repeats
    int repeats = 1;
    std::map<std::string, double> predicted;
    int predicted_ctas_per_sm = 0;
};

struct ValidationPlan {
    std::vector<ValidationRow> rows;
    std::size_t recorded_rows = 0;
    std::size_t skipped_random = 0;  // the order's seed is not known
    std::size_t other_split = 0;     // left out by --split
};

// Repeats of one configuration count once; rows of the order `random` are skipped, and those of another split
// than `split` ("" for all).
ValidationPlan plan_validation(const std::vector<RecordedRow>& rows, std::string_view split);

// Error of a prediction: percent of the measured value, or percentage points for what is itself in percent.
// kUnknown when it cannot be said: not measured, not predicted, measured as zero, or both within the noise of
// zero.
double prediction_error(const ValidationRow& row, const Metric& metric);

// Ranking groups are rows alike but for the order.
struct RankingStats {
    std::size_t groups = 0;
    double kendall_tau_time = 0;  // mean over the groups
    double kendall_tau_dram = 0;
    double regret_pct_mean = 0;  // how much slower the order predicted best ran than the one measured best
    double regret_pct_max = 0;
};

struct ValidationSummary {
    std::map<std::string, ErrorStats> counters;  // by metric id; in points where its unit is percent
    RankingStats ranking;
    std::size_t ctas_checked = 0;  // rows in grid mode that say how many CTAs fit an SM
    std::size_t ctas_differ = 0;
};

// Counters that are compared: hardware counters of the table of metrics that both sides have.
ValidationSummary summarise(std::span<const ValidationRow> rows);

// What is accepted of one counter; limits that are absent are not judged.
struct Tolerance {
    std::optional<double> median;
    std::optional<double> p90;
    std::optional<double> mean;
};
using Tolerances = std::map<std::string, Tolerance>;

// Reads the format of traces/h200/accepted.toml. Throws BadInput with file and line.
Tolerances parse_accepted(std::string_view text, const std::string& name);

// The figures shipped with the recorded data, compiled in.
const Tolerances& accepted_tolerances();

// "COUNTER=P[,COUNTER=P...]": P is the largest median error, in percent or points. Throws BadInput.
Tolerances parse_tolerances(std::string_view text);

// Is the counter within its tolerance? Counters without rows or tolerance are.
bool within(const ErrorStats& stats, const Tolerance& tolerance);

// Counters outside their tolerance, in the order of the table of metrics.
std::vector<std::string> outside(const ValidationSummary& summary, const Tolerances& tolerances);

}  // namespace l2lens
