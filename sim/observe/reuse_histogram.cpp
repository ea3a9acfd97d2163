// SPDX-License-Identifier: Apache-2.0
#include "observe/reuse_histogram.hpp"

#include <algorithm>
#include <cmath>

namespace l2lens {
namespace {

constexpr int kBinsPerOctave = 4;

}  // namespace

ReuseBins::ReuseBins(const Machine& machine) {
    const double least = static_cast<double>(machine.partition_bytes()) / 64;
    const double most = static_cast<double>(machine.l2_bytes()) * 16;
    const double first = std::floor(std::log2(least));
    const double last = std::ceil(std::log2(most));
    lower_bytes_.push_back(0);
    for (int i = 0; first + static_cast<double>(i) / kBinsPerOctave <= last; ++i)
        lower_bytes_.push_back(std::exp2(first + static_cast<double>(i) / kBinsPerOctave));
}

std::size_t ReuseBins::bin_of(double bytes) const {
    const auto above = std::upper_bound(lower_bytes_.begin(), lower_bytes_.end(), bytes);
    return above == lower_bytes_.begin() ? 0 : static_cast<std::size_t>(above - lower_bytes_.begin()) - 1;
}

}  // namespace l2lens
