// SPDX-License-Identifier: Apache-2.0
// A slice's ways into the GPCs, slow and obvious. It follows the words of memory/gpc_ways.hpp and shares no
// code with it.
#pragma once

#include <algorithm>
#include <map>

#include "base/units.hpp"
#include "machine/machine.hpp"

namespace l2lens::test {

class NaiveWays {
public:
    // When data that is through the output at `sent` leaves for a GPC.
    Picoseconds leave(const Machine& machine, Picoseconds sent, int gpc, int sectors) {
        Picoseconds& free = free_[gpc];
        const Picoseconds leaves = std::max(sent, free);
        free = leaves + on_way(machine, sectors);
        return leaves;
    }

    // The first picosecond, found by halving, at which no more waits than there is room for.
    Picoseconds have_room_at(const Machine& machine) const {
        const Picoseconds room = machine.l2.gpc_queue_lines * on_way(machine, 4);
        if (room == 0) return 0;
        Picoseconds early = 0, late = 1;
        while (held_at(late) > room) late *= 2;
        while (early < late) {
            const Picoseconds middle = (early + late) / 2;
            if (held_at(middle) > room)
                early = middle + 1;
            else
                late = middle;
        }
        return early;
    }

private:
    static Picoseconds on_way(const Machine& machine, int sectors) {
        const double rate = machine.bandwidth.gpc_way_bytes_per_ns;
        if (rate == 0) return 0;
        const double bytes = sectors * 32 + machine.bandwidth.answer_overhead_bytes;
        return static_cast<Picoseconds>(bytes * (1000 / rate));
    }
    Picoseconds held_at(Picoseconds now) const {
        Picoseconds held = 0;
        for (const auto& [gpc, free] : free_)
            if (free > now) held += free - now;
        return held;
    }

    std::map<int, Picoseconds> free_;  // by GPC, from when on
};

}  // namespace l2lens::test
