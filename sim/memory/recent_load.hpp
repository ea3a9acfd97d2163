// SPDX-License-Identifier: Apache-2.0
// How busy a server was lately: its jobs of the last microseconds, older ones forgotten little by little.
#pragma once

#include "base/units.hpp"

namespace l2lens {

class RecentLoad {
public:
    // A job at `now` that keeps the server busy for `busy`. What share of the time it was busy, this job
    // included: 0 to 1, or more while a queue builds up.
    double add(Picoseconds now, Picoseconds busy) {
        if (now > last_) {
            share_ *= kMemory / (kMemory + static_cast<double>(now - last_));
            last_ = now;
        }
        share_ += static_cast<double>(busy) / kMemory;
        return share_;
    }

private:
    static constexpr double kMemory = 2e6;  // 2 us: some 300 lines of a busy slice's DRAM
    double share_ = 0;
    Picoseconds last_ = 0;
};

}  // namespace l2lens
