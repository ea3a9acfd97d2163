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
#include "report/error_causes.hpp"
#include "report/ranking.hpp"
#include "report/recorded_csv.hpp"
#include "report/repeat_noise.hpp"
#include "report/simple_models.hpp"
#include "report/statistics.hpp"
#include "report/validation_row.hpp"

namespace l2lens {

struct ValidationPlan {
    std::vector<ValidationRow> rows;
    std::size_t recorded_rows = 0;
    std::size_t skipped_random = 0;  // the order's seed is not known
    std::size_t other_split = 0;     // left out by --split
};

// Repeats of one configuration count once; rows of the order `random` are skipped, and those of another split
// than `split` ("" for all).
ValidationPlan plan_validation(const std::vector<RecordedRow>& rows, std::string_view split);

struct ValidationSummary {
    std::map<std::string, ErrorStats> counters;  // by metric id; in points where its unit is percent
    std::map<std::string, NoiseStats> noise;     // of repeated readings, the same way
    std::map<std::string, CauseStats> causes;    // of the rows with a recorded schedule, the same way
    SimpleModelErrors simple_models;
    RankingStats ranking;
    std::map<std::string, std::size_t> counted_nothing;  // by metric id: the rows that have none of it
    std::size_t ctas_checked = 0;                        // rows in grid mode that say how many CTAs fit an SM
    std::size_t ctas_differ = 0;
};

// Counters that are compared: hardware counters of the table of metrics that both sides have.
ValidationSummary summarise(std::span<const ValidationRow> rows,
                            std::map<std::string, NoiseStats> noise = {});

// A row and its error in one counter.
struct WorstRow {
    const ValidationRow* row;
    double error;  // percent or points
};

// At most `count` rows, the one furthest off first.
std::vector<WorstRow> worst_rows(std::span<const ValidationRow> rows, const Metric& metric,
                                 std::size_t count);

// What is accepted of one counter; limits that are absent are not judged.
struct Tolerance {
    std::optional<double> median;
    std::optional<double> p90;
    std::optional<double> mean;
};
using Tolerances = std::map<std::string, Tolerance>;

// The accepted errors of recorded files: some have their own, by the file's name without its folder.
struct Accepted {
    Tolerances any;
    std::map<std::string, Tolerances> of_file;

    // The file's own when all rows come from one that has them.
    const Tolerances& of(std::span<const RecordedRow> rows) const;
};

// Reads the format of traces/h200/accepted.toml. Throws BadInput with file and line.
Accepted parse_accepted(std::string_view text, const std::string& name);

// The figures shipped with the recorded data, compiled in.
const Accepted& accepted_tolerances();

// "COUNTER=P[,COUNTER=P...]": P is the largest median error, in percent or points. Throws BadInput.
Tolerances parse_tolerances(std::string_view text);

enum class Verdict {
    Met,
    MetWithinNoise,  // the 90th percentile is above its limit, but repeated readings differ about as much
    Outside,
};

// A 90th percentile counts as met up to this many times that of repeated readings: an error holds the noise
// of the one reading it is taken against besides the model's.
inline constexpr double kNoiseAllowance = 1.5;

// Counters without rows are met, and limits that are absent; `noise` may be absent, too.
Verdict judge(const ErrorStats& stats, const Tolerance& tolerance, const NoiseStats* noise);
Verdict judge(const ValidationSummary& summary, const std::string& counter, const Tolerance& tolerance);

// Counters outside their tolerance, in the order of the table of metrics.
std::vector<std::string> outside(const ValidationSummary& summary, const Tolerances& tolerances);

}  // namespace l2lens
