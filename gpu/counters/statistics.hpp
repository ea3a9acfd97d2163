// SPDX-License-Identifier: Apache-2.0
// Median of a few readings: one disturbed reading (another process, a clock change) does not move it.
#pragma once

#include <algorithm>
#include <vector>

namespace l2lens::gpu {

// Of a non-empty list; the mean of the two middle ones when their number is even.
inline double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

}  // namespace l2lens::gpu
