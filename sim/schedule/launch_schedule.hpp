// SPDX-License-Identifier: Apache-2.0
// Who ran where and when: what a simulation leaves behind, what a GPU records, and what a replay is driven
// by.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"

namespace l2lens {

// One CTA on its SM, or one tile of a persistent CTA (whose next tile may begin while this one is stored).
struct CtaStay {
    std::int32_t sm = -1;  // -1: nothing ran under this launch id (a no-op CTA)
    Picoseconds start = 0;
    Picoseconds end = 0;
};

// By launch id. Times count from the first start.
using LaunchSchedule = std::vector<CtaStay>;

// Stays that were noted by tile, as a schedule. A tile below 0 is a no-op CTA.
LaunchSchedule by_launch_id(std::span<const std::int32_t> tile_of_launch,
                            std::span<const CtaStay> stay_of_tile);

}  // namespace l2lens
