// SPDX-License-Identifier: Apache-2.0
// What a lane's tags, ports and DRAM have in common: they serve so many sectors, one job after another.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/units.hpp"

namespace l2lens {

// By a table of sixteen digits: popcount() is a call into a library where the processor may lack it.
inline int count(SectorMask sectors) {
    constexpr std::uint64_t kSetBits = 0x4332'3221'3221'2110;
    return static_cast<int>(kSetBits >> 4 * sectors & 7);
}

// The job begins at `now`, or when what came before it is done; returns when.
inline Picoseconds take_turn(Picoseconds& free_at, Picoseconds now, Picoseconds service) {
    const Picoseconds start = std::max(now, free_at);
    free_at = start + service;
    return start;
}

}  // namespace l2lens
