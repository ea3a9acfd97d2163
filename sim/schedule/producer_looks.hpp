// SPDX-License-Identifier: Apache-2.0
// When a thread asks for boxes whose stage is free at `free`, if it has time for them from `asks_from` on
// (negative: it has not asked yet). A producer that has to wait for a stage looks whether it is free again
// and again, every `poll`, from when it could have asked on (traces/h200/producer_polls.csv). Others hear of
// it at once: 0.
#pragma once

#include <algorithm>

#include "base/units.hpp"

namespace l2lens {

inline Picoseconds asks_at(Picoseconds free, Picoseconds asks_from, Picoseconds poll) {
    if (poll == 0 || asks_from < 0) return std::max(free, asks_from);
    const Picoseconds looks = (std::max(free - asks_from, Picoseconds{0}) + poll - 1) / poll;
    return asks_from + looks * poll;
}

}  // namespace l2lens
