// SPDX-License-Identifier: Apache-2.0
// Whose step the tensor cores of an SM take: the oldest CTA's. Schedulers favour the oldest warp, which is
// what staggers the CTAs of an SM.
#pragma once

#include <cstdint>
#include <vector>

namespace l2lens {

// The oldest of the slots [first, end) for which has_step(slot), or -1. A slot's age is its start order.
template <class Slot, class HasStep>
std::int32_t oldest_with_step(const std::vector<Slot>& slots, std::int32_t first, std::int32_t end,
                              HasStep&& has_step) {
    std::int32_t oldest = -1;
    for (std::int32_t i = first; i < end; ++i) {
        const Slot& slot = slots[static_cast<std::size_t>(i)];
        if (!has_step(slot)) continue;
        if (oldest < 0 || slot.age < slots[static_cast<std::size_t>(oldest)].age) oldest = i;
    }
    return oldest;
}

}  // namespace l2lens
