// SPDX-License-Identifier: Apache-2.0
// Whose step the tensor cores of an SM take: the one that has waited longest. The CTAs of an SM keep together
// so, as they do on the GPU: those of one SM that begin together end 0.7 to 2.1 us apart in the median, after
// 60 to 190 (traces/h200/schedules.csv).
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace l2lens {

// Since when a CTA's steps wait for the tensor cores. Two are issued at most, the first is computed first.
struct MathWait {
    Picoseconds first = 0;
    Picoseconds last = 0;

    // alone: no earlier step is still to be computed.
    void issued(Picoseconds now, bool alone) {
        last = now;
        if (alone) first = now;
    }
    void retired() { first = last; }
};

// Of the slots [first, end) for which has_step(slot) the one whose step waits longest, or -1.
template <class Slot, class HasStep>
std::int32_t next_with_step(const std::vector<Slot>& slots, std::int32_t first, std::int32_t end,
                            HasStep&& has_step) {
    std::int32_t next = -1;
    for (std::int32_t i = first; i < end; ++i) {
        const Slot& slot = slots[static_cast<std::size_t>(i)];
        if (!has_step(slot)) continue;
        if (next < 0 || slot.math_wait.first < slots[static_cast<std::size_t>(next)].math_wait.first)
            next = i;
    }
    return next;
}

}  // namespace l2lens
