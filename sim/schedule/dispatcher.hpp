// SPDX-License-Identifier: Apache-2.0
// Which CTA runs where, and when.
//   grid      the first wave fills the SMs GPC by GPC, one CTA each round; after that a free slot takes the
//   next launch id static    one CTA per SM; the i-th takes tiles i, i+P, i+2P, ... dynamic   one CTA per SM;
//   a free CTA takes the next tile (an atomic counter)
#pragma once

#include <cstdint>
#include <queue>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "machine/machine.hpp"
#include "schedule/gpc.hpp"

namespace l2lens {

enum class Mode { Grid, Static, Dynamic };

struct Start {
    Picoseconds time;
    std::int32_t slot;  // SM * CTAs per SM + slot
    std::int32_t tile;
};

class Dispatcher {
public:
    // launches[id] is a program, or -1 for a no-op CTA, which holds its slot for a moment and leaves.
    Dispatcher(const Machine& machine, std::span<const std::int32_t> launches, Mode mode, int ctas_per_sm);

    std::vector<Start> first_wave();

    // CTAs that follow those that have left; none starts before `not_before`.
    std::vector<Start> follow(std::span<const Exit> exits, Picoseconds not_before);

    std::int64_t launched() const { return launched_; }

private:
    struct FreeSlot {
        Picoseconds time;
        std::int32_t slot;
        friend bool operator>(const FreeSlot& a, const FreeSlot& b) {
            return a.time != b.time ? a.time > b.time : a.slot > b.slot;
        }
    };

    std::int64_t next_launch(std::int32_t slot);  // -1: none left

    std::span<const std::int32_t> launches_;
    Mode mode_;
    Picoseconds gap_;
    Picoseconds stagger_;
    std::vector<std::int32_t> first_slots_;  // in launch order
    std::vector<std::int64_t> static_next_;  // per slot
    std::int64_t next_ = 0;
    std::int64_t launched_ = 0;
    std::priority_queue<FreeSlot, std::vector<FreeSlot>, std::greater<>> free_;
};

}  // namespace l2lens
