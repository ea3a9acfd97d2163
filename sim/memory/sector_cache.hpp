// SPDX-License-Identifier: Apache-2.0
// The sets of one slice: a tag per line, a valid bit per sector, least recently used out first.
// Tags and ages are separate arrays, so that a lookup is a scan of one or two cache lines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/units.hpp"

namespace l2lens {

class SectorCache {
public:
    SectorCache(std::uint32_t sets, int ways)
        : ways_(static_cast<std::uint32_t>(ways)),
          tag_(static_cast<std::size_t>(sets) * ways_, kNoLine),
          used_(tag_.size(), 0),
          line_(tag_.size()) {}

    // Who leaves first: PTX' eviction priorities.
    enum class Priority : std::uint8_t { EvictFirst, Normal, EvictLast };

    struct Line {
        Picoseconds ready = 0;   // when the last of its sectors has arrived
        std::int32_t fill = -1;  // the fabric fill under way, if any
        SectorMask valid = 0;    // sectors that are here or on their way
        SectorMask dirty = 0;
    };

    struct Found {
        std::uint32_t way;  // index into the cache
        bool present;
        SectorMask written_back;  // dirty sectors of the line that had to leave
    };

    // Finds the line in its set, or makes room for it (an empty Line). Either way it is the youngest of its
    // priority now; lines of a lower one leave first.
    Found find_or_allocate(std::uint32_t set, LineNumber line, Priority priority = Priority::Normal) {
        const std::uint32_t base = set * ways_;
        std::uint32_t oldest = base;
        const std::uint32_t now = ++clock_ | static_cast<std::uint32_t>(priority) << kClockBits;
        for (std::uint32_t way = base; way < base + ways_; ++way) {
            if (tag_[way] == line) {
                used_[way] = now;
                return {way, true, 0};
            }
            if (used_[way] < used_[oldest]) oldest = way;
        }
        const SectorMask written_back = line_[oldest].dirty;
        tag_[oldest] = line;
        used_[oldest] = now;
        line_[oldest] = Line{};
        return {oldest, false, written_back};
    }

    // When more than `most` lines of the set are dirty, cleans the oldest of them, which stays: the sectors
    // to write back.
    SectorMask clean_beyond(std::uint32_t set, int most) {
        const std::uint32_t base = set * ways_;
        std::uint32_t oldest = base;
        int dirty = 0;
        for (std::uint32_t way = base; way < base + ways_; ++way) {
            if (line_[way].dirty == 0) continue;
            if (dirty == 0 || used_[way] < used_[oldest]) oldest = way;
            ++dirty;
        }
        if (dirty <= most) return 0;
        const SectorMask written_back = line_[oldest].dirty;
        line_[oldest].dirty = 0;
        return written_back;
    }

    // Calls visit(line, valid sectors) for each line that is held.
    template <class Visit>
    void for_each_line(Visit&& visit) const {
        for (std::size_t way = 0; way < tag_.size(); ++way) {
            if (tag_[way] != kNoLine) visit(tag_[way], line_[way].valid);
        }
    }

    bool contains(std::uint32_t set, LineNumber line) const {
        const auto first = tag_.begin() + set * ways_;
        return std::find(first, first + ways_, line) != first + ways_;
    }

    Line& at(std::uint32_t way) { return line_[way]; }
    const Line& at(std::uint32_t way) const { return line_[way]; }
    bool holds(std::uint32_t way, LineNumber line) const { return tag_[way] == line; }

private:
    static constexpr LineNumber kNoLine = std::numeric_limits<LineNumber>::max();

    std::uint32_t ways_;
    static constexpr int kClockBits = 30;
    std::uint32_t clock_ = 0;  // lookups of one slice: far below 2^30 in any run
    std::vector<LineNumber> tag_;
    std::vector<std::uint32_t> used_;
    std::vector<Line> line_;
};

}  // namespace l2lens
