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
// The memory's is the error that stays when every CTA runs on the SM that the GPU ran it on, and begins when
// it did there; the schedule's is what that takes away. Inside a CTA steps wait for the simulated memory in
// both runs: what CTAs that wait for the same data do to each other is the memory's doing.
struct ErrorCauses {
    double schedule = 0;
    double memory = 0;
};

// None where no recorded schedule was given, where there is no error to speak of, and for times, which follow
// from the schedule.
std::optional<ErrorCauses> causes_of(const ValidationRow& row, const Metric& metric);

// Over the rows of a recorded schedule.
struct CauseStats {
    std::size_t rows = 0;
    double median_schedule = 0;  // of the sizes
    double median_memory = 0;
};

std::map<std::string, CauseStats> cause_stats(std::span<const ValidationRow> rows);

}  // namespace l2lens
