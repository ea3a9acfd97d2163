// SPDX-License-Identifier: Apache-2.0
// Somebody who looks on while a lane of the L2 works: how `l2lens teach` knows what each access met. The lane
// tells what it did, after it did it; nothing here can change the run.
#pragma once

#include <cstdint>

#include "base/units.hpp"
#include "memory/sector_cache.hpp"

namespace l2lens {

// One request's stop at a slice, or its answer.
struct LaneStep {
    enum class Kind : std::uint8_t {
        Merged,     // a read joined one that waits for the same sectors: no slice saw it
        Read,       // looked up in the partition of the SM that asks
        HomeRead,   // looked up in the home partition for the other one
        Write,      // stored, or kept as a copy, in the partition of the SM that writes
        HomeWrite,  // stored in the home partition for the other one
        Answer,     // a coalescer entry is answered: its data leaves the slice
    };

    Kind kind = Kind::Read;
    Picoseconds time = 0;  // of arrival at the slice; of an answer: of departure
    LineNumber line = 0;
    std::uint16_t lane = 0;       // the slice's number inside its partition
    std::uint8_t partition = 0;   // of the slice
    std::uint8_t gpc = 0;         // that asks; of home steps unknown, 0
    std::uint16_t landing = 0;    // as in Request
    std::uint8_t requesters = 1;  // of an answer
    std::int32_t entry = -1;      // the coalescer's: the same number in a read and in its answer
    // Of a lookup.
    std::uint32_t way = 0;      // index into the slice's cache: set * ways + way
    bool tag_found = false;     // the line had a way
    bool pending = false;       // all that was asked was valid, but still on its way
    SectorMask asked = 0;       // or written
    SectorMask valid = 0;       // before: sectors that were there, or on their way
    SectorMask after = 0;       // valid sectors afterwards
    SectorMask dirty = 0;       // dirty sectors afterwards
    SectorMask fetched = 0;     // sectors it set out to fetch, promoted ones included
    SectorMask last_level = 0;  // of those, which the cache in front of the memory had
    // What went back to DRAM of lines of the set that stay.
    SectorCache::Cleaned cleaned{};    // before
    SectorCache::Cleaned completed{};  // after, since too many were written in part
};

class LaneObserver {
public:
    virtual ~LaneObserver() = default;
    // Called by the thread that runs the lane, in the order of its events.
    virtual void stepped(const LaneStep& step) = 0;
};

}  // namespace l2lens
