// SPDX-License-Identifier: Apache-2.0
// A slice's ways into the GPCs of its partition. Each takes an even part of what all of the partition's
// slices may send that GPC (bandwidth.gpc_way), whatever the others send: so a GPC that reads from all slices
// alike gets all of its port, and what one slice has too much of waits there alone (traces/h200/waits.csv).
// (On an H200 eight slices share a port, and one gets what the others leave: docs/tried.md, "What waits for a
// way", has why they do not here.)
#pragma once

#include <algorithm>
#include <cstddef>
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

    // From when on it no longer is, if nothing is added: when the ways that are busy until then, and they
    // alone, have the room left together. Counting in ways that are free before that makes it too soon, so
    // they are left out until there are none.
    Picoseconds hold_at_most(Picoseconds room, Picoseconds now) {
        if (!hold_more_than(room, now)) return now;
        Picoseconds until = now;
        while (true) {
            Picoseconds sum = -room, busy = 0;
            for (const Picoseconds free : free_) {
                sum += free > until ? free : 0;
                busy += free > until ? 1 : 0;
            }
            if (busy == 0) return until;
            const Picoseconds later = ceil_div(sum, busy);
            if (later <= until) return until;
            until = later;
        }
    }

private:
    std::vector<Picoseconds> free_;  // of each GPC's, from when on
    // They were last looked at at since_; from then on they have held no more than that. So most requests
    // compare one number.
    Picoseconds most_ = 0;
    Picoseconds since_ = 0;
};

}  // namespace l2lens
