// SPDX-License-Identifier: Apache-2.0
// Whose fault is an error: the schedule's (who ran where and when) or the memory's? Told apart by running the
// memory model under the schedule that the GPU recorded.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>

#include "report/validation_row.hpp"

namespace l2lens {

// Two parts of an error that add up to it, in its unit (percent of the measured value, or points).
//
// A replay knows when each CTA began and ended, but lays out its steps in between by rule
// (schedule/schedule_replay.hpp), so that even a replay of the prediction's own schedule differs from the
// prediction a little. Both schedules are therefore replayed, and their difference, in which that cancels,
// is the schedule's part. The rest is the memory's: it is what the replay of the recorded schedule is off,
// corrected by `layout`.
struct ErrorCauses {
    double schedule = 0;
    double memory = 0;
    double layout = 0;  // what laying out the steps by rule changes: own schedule replayed less predicted
};

// None where no recorded schedule was given, where there is no error to speak of, and for times, since a
// replay is given them.
std::optional<ErrorCauses> causes_of(const ValidationRow& row, const Metric& metric);

// Over the rows of a recorded schedule.
struct CauseStats {
    std::size_t rows = 0;
    double median_schedule = 0;  // of the sizes
    double median_memory = 0;
    double median_layout = 0;
};

std::map<std::string, CauseStats> cause_stats(std::span<const ValidationRow> rows);

}  // namespace l2lens
