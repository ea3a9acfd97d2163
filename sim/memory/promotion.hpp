// SPDX-License-Identifier: Apache-2.0
// What a miss fetches: the asked sectors, widened to whole units of the fetch granularity.
#pragma once

#include "base/units.hpp"

namespace l2lens {

// Widens a mask to whole units of `bytes` (32, 64 or 128).
constexpr SectorMask promote(SectorMask sectors, int bytes) {
    if (bytes >= kLineBytes) return sectors != 0 ? kWholeLine : SectorMask{0};
    if (bytes <= kSectorBytes) return sectors;
    SectorMask wide = sectors;
    if ((sectors & 0x3) != 0) wide |= 0x3;
    if ((sectors & 0xC) != 0) wide |= 0xC;
    return wide;
}

}  // namespace l2lens
