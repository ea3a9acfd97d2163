// SPDX-License-Identifier: Apache-2.0
// The L1 of one SM, between the SM's plain loads and the coalescer: lines of 128 B whose sectors are filled
// as they are asked for (CUDA Programming Guide, "L1 cache"; Jia et al., arXiv 1804.06826, for the
// replacement's being close to least recently used). Stores go through it to the L2 and take no place in it.
// A sector on its way is a hit.
//
// Loads by TMA and cp.async.cg never come here.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "base/random.hpp"
#include "base/units.hpp"
#include "memory/sector_cache.hpp"

namespace l2lens {

class L1Cache {
public:
    // `lines` of which the simulated share of the L2's lanes sees so many: a run that simulates a sixteenth
    // of all lines has an L1 of a sixteenth.
    explicit L1Cache(double lines)
        : ways_(static_cast<int>(std::clamp(std::lround(lines), 1L, static_cast<long>(kWays)))),
          sets_(static_cast<std::uint32_t>(std::max(std::lround(lines / ways_), 1L))),
          cache_(sets_, ways_) {}

    // The sectors of `wanted` that are here or on their way; the others will be, from `filled` on, unless the
    // load takes no place.
    struct Found {
        SectorMask sectors;
        Picoseconds ready;
    };
    Found read(LineNumber line, SectorMask wanted, Picoseconds filled, bool allocates) {
        const std::uint32_t set = static_cast<std::uint32_t>(mix64(line) % sets_);
        if (!allocates && !cache_.contains(set, line)) return {0, 0};
        SectorCache::Line& here = cache_.at(cache_.find_or_allocate(set, line).way);
        const auto found = static_cast<SectorMask>(wanted & here.valid());
        const Picoseconds ready = here.ready();
        if (allocates && found != wanted) {
            here.add(wanted);
            here.arrives(filled, filled);
        }
        return {found, ready};
    }

private:
    // Volta's L1 has 4 sets (arXiv 1804.06826, table 3.1); more ways than this differ little from all.
    static constexpr int kWays = 64;

    int ways_;
    std::uint32_t sets_;
    SectorCache cache_;
};

}  // namespace l2lens
