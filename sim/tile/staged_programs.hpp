// SPDX-License-Identifier: Apache-2.0
// The programs of a slot's tiles as its CTA goes through them, with the stages that their steps take: as in
// schedule/program_cursor.hpp, but that a cursor also counts stages, since a producer's steps that only store
// take none.
#pragma once

#include <cstdint>

#include "schedule/program_cursor.hpp"
#include "schedule/work.hpp"

namespace l2lens {

// A step, counted from the slot's first tile on, and its place among the steps of its phase.
struct StagedCursor {
    const Work::Phase* phase = nullptr;
    std::int32_t tile = -1;
    std::int32_t step = 0;
    std::int32_t in_phase = 0;
    std::int32_t staged = 0;   // steps before it that have taken a stage
    std::int32_t in_lead = 0;  // that modulo the lead
};

class StagedPrograms {
public:
    // Loads run `lead` steps ahead.
    StagedPrograms(const Work& work, std::int32_t lead)
        : work_(work), lead_(lead), stores_take_none_(work.kernel().pipeline == Pipeline::WarpSpecialized) {}

    // A tile's first step.
    StagedCursor first(std::int32_t tile) const {
        StagedCursor cursor;
        cursor.tile = tile;
        cursor.phase = work_.program(tile).data();
        enter({}, cursor);
        return cursor;
    }

    bool takes_stage(const Work::Phase& phase) const { return !stores_take_none_ || !phase.only_stores(); }

    // To the first step of this phase, or of the next one that has any, in this tile or the one after it.
    void enter(const TileChain& tiles, StagedCursor& cursor) const {
        for (;;) {
            const auto program = work_.program(cursor.tile);
            const Work::Phase* const end = program.data() + program.size();
            while (cursor.phase < end && cursor.phase->count <= 0) ++cursor.phase;
            if (cursor.phase < end) return;
            const std::int32_t next = tiles.after(cursor.tile);
            if (next < 0) return;
            cursor.tile = next;
            cursor.phase = work_.program(next).data();
        }
    }

    void advance(const TileChain& tiles, StagedCursor& cursor) const {
        ++cursor.step;
        if (takes_stage(*cursor.phase)) {
            ++cursor.staged;
            if (++cursor.in_lead == lead_) cursor.in_lead = 0;
        }
        if (++cursor.in_phase < cursor.phase->count) return;
        cursor.in_phase = 0;
        ++cursor.phase;
        enter(tiles, cursor);
    }

    // To the next one of the first `loadable` steps that takes a stage.
    void pass_stores(const TileChain& tiles, std::int32_t loadable, StagedCursor& cursor) const {
        while (cursor.step < loadable && !takes_stage(*cursor.phase)) advance(tiles, cursor);
    }

private:
    const Work& work_;
    const std::int32_t lead_;
    const bool stores_take_none_;
};

}  // namespace l2lens
