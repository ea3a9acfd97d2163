// SPDX-License-Identifier: Apache-2.0
// What a slice has cleaned waits for DRAM, which takes it the more slowly the busier it is. While as much
// waits as a wholly busy DRAM takes for a line, the slice cleans none: beside SMs that read all that DRAM
// gives, a third fewer written lines leave than beside those that read half of it
// (traces/h200/write_back.csv).
#pragma once

#include <algorithm>

#include "base/units.hpp"

namespace l2lens {

class WriteQueue {
public:
    // `busy`: how long a wholly busy DRAM takes for a line. 0: there is always room.
    bool has_room(Picoseconds now, Picoseconds busy) const { return free_ - now <= busy; }

    // A line, while DRAM is busy for `load` of the time.
    void add(Picoseconds now, Picoseconds busy, double load) {
        const auto line = static_cast<Picoseconds>(static_cast<double>(busy) * std::min(load, 1.0));
        free_ = std::max(free_, now) + line;
    }

private:
    Picoseconds free_ = 0;
};

}  // namespace l2lens
