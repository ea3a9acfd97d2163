// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

namespace l2lens::test {

// Of at least one value.
inline double mean(const std::vector<double>& values) {
    double sum = 0;
    for (double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

// Of all there are, not of a sample of more. At least one value.
inline double variance(const std::vector<double>& values) {
    const double of_all = mean(values);
    double squares = 0;
    for (double value : values) squares += (value - of_all) * (value - of_all);
    return squares / static_cast<double>(values.size());
}

}  // namespace l2lens::test
