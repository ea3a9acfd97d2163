// SPDX-License-Identifier: Apache-2.0
// What the tile engine's one queue holds, and where a box's data goes.
#pragma once

#include <cstdint>

#include "memory/event_wheel.hpp"

namespace l2lens {

struct TileEvent {
    enum class Kind : std::uint8_t {
        Begin,       // a CTA begins to load; a: slot
        Write,       // a stored box's middle line reaches the slices; a: box, b: GPC
        HomeLookup,  // a box's lines of the other home are looked up there; a: box, b: who asks (partition)
        Fetch,       // the last of a box's lines is at DRAM; a: box, b: home
        HomeReply,   // and leaves its home for the other partition; a: box, b: who asked
        HomeWrite,   // stored lines of the other home arrive there; a: box, b: partition they come from
        Load,        // a CTA's next loads are on their way, by the SM's own share of it; a: slot
        Landed,      // a step's boxes are at their GPC; a: slot, b: stage
        Issue,       // a CTA's step may go to the tensor cores; a: slot
        MathDone,    // and leaves them; a: slot
        Exit,        // a CTA is over; a: slot
    };

    std::uint32_t a = 0;
    std::uint32_t b = 0;
    Kind kind = Kind::Begin;
};

// Boxes take a hundred nanoseconds: buckets of 2 ns, and small enough a wheel to stay in a first-level cache.
inline constexpr int kTileBucketShift = 11;
using TileWheel = EventWheel<TileEvent, kTileBucketShift, 1024>;

// Where a box goes: a stage of a slot, or with an axis the same stage of those that receive the slot's
// multicast along it.
struct Landing {
    std::uint32_t code = 0;

    static constexpr std::uint32_t kNoAxis = 2;
    static constexpr std::uint32_t kMostSlots = 1u << 18;

    static Landing of(std::int32_t slot, std::size_t stage, std::uint32_t axis) {
        return {axis << 30 | static_cast<std::uint32_t>(slot) << 4 | static_cast<std::uint32_t>(stage)};
    }
    std::uint32_t stage() const { return code & 15u; }
    std::int32_t slot() const { return static_cast<std::int32_t>(code >> 4 & (kMostSlots - 1)); }
    std::uint32_t axis() const { return code >> 30; }
};

}  // namespace l2lens
