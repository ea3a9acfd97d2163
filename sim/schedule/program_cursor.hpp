// SPDX-License-Identifier: Apache-2.0
// Where a CTA is in its tile's program, and on into the next tile's where a persistent CTA loads across
// tiles.
#pragma once

#include <cstdint>

#include "schedule/work.hpp"

namespace l2lens {

// The tile that a slot works on, and those before and after it where loads go on across tiles. -1: none, or
// not known yet.
struct TileChain {
    std::int32_t previous = -1;
    std::int32_t tile = -1;
    std::int32_t next = -1;

    std::int32_t after(std::int32_t which) const {
        return which == tile ? next : which == previous ? tile : -1;
    }
};

// Step `step` of all that the slot has done since its first tile is step `in_phase` of phase `phase` of a
// tile's program.
struct ProgramCursor {
    std::int32_t tile = -1;
    std::int64_t step = 0;
    std::int64_t in_phase = 0;
    std::uint32_t phase = 0;
};

// From the end of a tile to the beginning of the next one, if there is one already.
inline void enter_next_tile(const Work& work, const TileChain& tiles, ProgramCursor& cursor) {
    if (cursor.phase < work.program(cursor.tile).size()) return;
    const std::int32_t next = tiles.after(cursor.tile);
    if (next >= 0) cursor = {next, cursor.step, 0, 0};
}

inline void advance(const Work& work, const TileChain& tiles, ProgramCursor& cursor) {
    ++cursor.step;
    ++cursor.in_phase;
    const auto phases = work.program(cursor.tile);
    while (cursor.phase < phases.size() && cursor.in_phase >= phases[cursor.phase].count) {
        cursor.in_phase = 0;
        ++cursor.phase;
    }
    enter_next_tile(work, tiles, cursor);
}

}  // namespace l2lens
