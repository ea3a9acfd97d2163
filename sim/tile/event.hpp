// SPDX-License-Identifier: Apache-2.0
// What the tile engine's one queue holds.
#pragma once

#include <cstdint>

#include "memory/event_wheel.hpp"

namespace l2lens {

struct TileEvent {
    enum class Kind : std::uint8_t {
        Begin,      // a CTA begins to load; a: slot
        Announce,   // a CTA may load the tile that it has drawn; a: slot
        Write,      // a stored box's middle line reaches the slices; a: box, b: GPC
        HomeWrite,  // stored lines of the other home arrive there; a: box, b: partition they come from
        Load,       // a CTA's next loads are on their way, by the SM's own share of it; a: slot
        Landed,     // a step's boxes are at their GPC; a: slot, b: stage
        Issue,      // a CTA's step may go to the tensor cores; a: slot
        MathDone,   // and leaves them; a: slot
        Exit,       // a CTA is over; a: slot
    };

    std::uint32_t a = 0;
    std::uint32_t b = 0;
    Kind kind = Kind::Begin;
};

// Boxes take a hundred nanoseconds: buckets of 2 ns, and small enough a wheel to stay in a first-level cache.
inline constexpr int kTileBucketShift = 11;
using TileWheel = EventWheel<TileEvent, kTileBucketShift, 1024>;

}  // namespace l2lens
