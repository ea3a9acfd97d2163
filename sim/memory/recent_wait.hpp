// SPDX-License-Identifier: Apache-2.0
// How long what left a port lately had to wait for it, in the mean.
#pragma once

#include "base/units.hpp"

namespace l2lens {

class RecentWait {
public:
    void add(Picoseconds wait) { mean_ += (static_cast<double>(wait) - mean_) / kMemory; }

    Picoseconds longer_by(double means) const { return static_cast<Picoseconds>(means * mean_); }

private:
    static constexpr double kMemory = 128;  // lines: 0.3 us of a GPC at a busy slice
    double mean_ = 0;
};

}  // namespace l2lens
