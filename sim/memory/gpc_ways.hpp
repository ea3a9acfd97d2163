// SPDX-License-Identifier: Apache-2.0
// A slice's ways into the GPCs of its partition. Each takes an even part of what all of the partition's
// slices may send that GPC (bandwidth.gpc_way), whatever the others send: so a GPC that reads from all slices
// alike gets all of its port, and what one slice has too much of waits there alone (traces/h200/waits.csv).
// (On an H200 eight slices share a port, and one gets what the others leave: docs/tried.md, "What waits for a
// way", has why they do not here.)
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "base/units.hpp"

namespace l2lens {

class GpcWays {
public:
    explicit GpcWays(int gpcs) : free_(static_cast<std::size_t>(gpcs), 0) {}

    // When data that is through the output at `sent`, so much work for its way, leaves for a GPC.
    Picoseconds leave(Picoseconds sent, int gpc, Picoseconds work) {
        Picoseconds& free = free_[static_cast<std::size_t>(gpc)];
        const Picoseconds leaves = std::max(free, sent);
        most_ += leaves + work - std::max(free, since_);
        free = leaves + work;
        return leaves;
    }

    // Is it longer than that, for all GPCs together, until the ways are free?
    bool hold_more_than(Picoseconds room, Picoseconds now) {
        if (now >= since_ && most_ <= room) return false;
        most_ = 0;
        since_ = now;
        for (const Picoseconds free : free_) most_ += std::max(free - now, Picoseconds{0});
        return most_ > room;
    }

    // From when on it no longer is, if nothing is added: when those that are busy longest, so many that the
    // next one is free by then, have that much left.
    Picoseconds hold_at_most(Picoseconds room, Picoseconds now) {
        if (!hold_more_than(room, now)) return now;
        latest_ = free_;
        std::sort(latest_.begin(), latest_.end(), std::greater<>());
        Picoseconds sum = -room;
        for (std::size_t busy = 1; busy < latest_.size(); ++busy) {
            sum += latest_[busy - 1];
            const Picoseconds until = rounded_up(sum, busy);
            if (until >= latest_[busy]) return until;
        }
        return rounded_up(sum + latest_.back(), latest_.size());
    }

private:
    static Picoseconds rounded_up(Picoseconds sum, std::size_t ways) {
        const auto n = static_cast<Picoseconds>(ways);
        return (sum + n - 1) / n;
    }

    std::vector<Picoseconds> free_;  // of each GPC's, from when on
    // They were last looked at at since_; from then on they have held no more than that. So most requests
    // compare one number.
    Picoseconds most_ = 0;
    Picoseconds since_ = 0;
    std::vector<Picoseconds> latest_;  // free_, sorted
};

}  // namespace l2lens
