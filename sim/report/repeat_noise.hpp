// SPDX-License-Identifier: Apache-2.0
// How much two readings of one launch differ: no prediction can be held to less.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>

#include "report/recorded_csv.hpp"

namespace l2lens {

// The deviation of one reading from the mean of its configuration's readings: percent of that mean, or
// percentage points for what is itself in percent. A configuration's own number of readings n makes that
// mean: the deviation is sqrt((n-1)/n) of that from the true mean, and nothing corrects for it.
struct NoiseStats {
    std::size_t readings = 0;
    std::size_t configurations = 0;  // that were read more than once
    double median_abs = 0;
    double p90_abs = 0;
};

// By metric id. Rows alike in kernel, parameters, mode and order are readings of one launch, whatever their
// `repeat` and `split` say; rows of the order `random` are left out, since their seeds may differ.
std::map<std::string, NoiseStats> repeat_noise(std::span<const RecordedRow> rows);

}  // namespace l2lens
