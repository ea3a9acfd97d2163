// SPDX-License-Identifier: Apache-2.0
// What travels between the SMs' side and the L2's side. Both need at least a crossbar latency to arrive,
// which is what lets the two sides run a window of that length without looking at each other.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.hpp"
#include "memory/line_place.hpp"
#include "memory/sector_cache.hpp"

namespace l2lens {

enum class Operation : std::uint8_t { Read, Write, Add };  // Add: a reduction, which writes, too

// How much around a missing sector a read fills.
enum class Fetch : std::uint8_t { Plain, Tensor };

// One line of a box that is asked for: one to four sectors.
struct LineAccess {
    LineNumber line = 0;
    LinePlace place;            // of the line
    std::uint16_t landing = 0;  // where the data goes: the sender's own number for it
    SectorMask sectors = 0;
    // Writes: sectors that are not wholly written (l2.byte_masks: none). Reads: not 0 for rows that TMA
    // shifts; they are not merged.
    SectorMask partial = 0;
    std::uint8_t gpc = 0;
    std::uint8_t sm = 0;         // which one of the GPC: numbers_in_gpcs()
    std::uint8_t receivers = 1;  // CTAs of a cluster that receive the data (multicast)
    Operation operation : 2 = Operation::Read;
    Fetch fetch : 2 = Fetch::Plain;
    SectorCache::Priority priority : 4 = SectorCache::Priority::Normal;
};
static_assert(sizeof(LineAccess) == 16);

// It arrives at its slice at `time`.
struct Request : LineAccess {
    Picoseconds time = 0;
};

inline constexpr int kMaxRequesters = 8;

// The data of one coalescer entry on its way into a GPC.
struct Answer {
    Picoseconds time = 0;  // arrival at the GPC
    std::array<std::uint16_t, kMaxRequesters> landing{};
    std::uint32_t late = 0;  // so many ps later comes what else its box waits for: lines nobody simulates
    std::uint8_t requesters = 0;
    std::uint8_t sectors = 0;  // count
};
static_assert(sizeof(Answer) == 32);

}  // namespace l2lens
