// SPDX-License-Identifier: Apache-2.0
// One lane's share of a cache in front of the memory, behind the L2s of all partitions (AMD's Infinity
// Cache). Reads fill it. What an L2 writes back goes on to the memory and takes no place here ("cannot hold
// dirty data evicted from a lower level cache": AMD CDNA 3 white paper); a copy that is here is kept up to
// date.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/random.hpp"
#include "base/units.hpp"
#include "machine/machine.hpp"
#include "memory/sector_cache.hpp"

namespace l2lens {

class LastLevelCache {
public:
    explicit LastLevelCache(const Machine& machine)
        : sets_(static_cast<std::uint32_t>(
              std::max<std::int64_t>(machine.last_level.bytes / machine.l2.slices_per_partition /
                                         (kLineBytes * std::max(machine.last_level.ways, 1)),
                                     1))),
          cache_(sets_, std::max(machine.last_level.ways, 1)) {}

    // The sectors of `wanted` that are here, or on their way until the line's `ready`. The line is the
    // youngest of its set now, and its caller makes it hold all that was wanted.
    struct Found {
        SectorMask sectors;
        SectorCache::Line& line;
    };
    Found read(LineNumber line, SectorMask wanted) {
        SectorCache::Line& here = cache_.at(cache_.find_or_allocate(set_of(line), line).way);
        return {static_cast<SectorMask>(wanted & here.valid()), here};
    }

private:
    std::uint32_t set_of(LineNumber line) const { return static_cast<std::uint32_t>(mix64(line) % sets_); }

    std::uint32_t sets_;
    SectorCache cache_;
};

}  // namespace l2lens
