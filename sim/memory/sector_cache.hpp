// SPDX-License-Identifier: Apache-2.0
// The sets of one slice: a tag per line, a valid bit per sector, least recently used out first.
// Tags and ages are separate arrays, so that a lookup is a scan of one or two cache lines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/cache_aligned.hpp"
#include "base/units.hpp"

namespace l2lens {

class SectorCache {
public:
    SectorCache(std::uint32_t sets, int ways)
        : ways_(static_cast<std::uint32_t>(ways)),
          tag_(static_cast<std::size_t>(sets) * ways_, kNoLine),
          used_(tag_.size()),
          line_(tag_.size()) {
        // Never used: before everything else, the first way first.
        for (std::size_t way = 0; way < used_.size(); ++way)
            used_[way] = std::numeric_limits<std::int32_t>::min() + static_cast<std::int32_t>(way % ways_);
    }

    // Who leaves first: PTX' eviction priorities.
    enum class Priority : std::uint8_t { EvictFirst, Normal, EvictLast };

    struct Line {
        Picoseconds ready = 0;   // when the last of its sectors has arrived
        std::int32_t fill = -1;  // the fabric fill under way, if any
        SectorMask valid = 0;    // sectors that are here or on their way
        SectorMask dirty = 0;    // one that is not valid was written in part
        std::uint16_t late = 0;  // in kLateUnit: after `ready`, when its box has settled

        // Dirty sectors of which bytes are missing.
        SectorMask incomplete() const { return static_cast<SectorMask>(dirty & ~valid); }
        // When the lines of its box that are not simulated have arrived, too.
        Picoseconds settled() const { return ready + late * kLateUnit; }
        void arrives(Picoseconds when, Picoseconds settles) {
            settles = std::max(settles, settled());
            ready = std::max(ready, when);
            late = static_cast<std::uint16_t>(std::max(settles - ready, Picoseconds{0}) / kLateUnit);
        }

    private:
        static constexpr Picoseconds kLateUnit = 256;  // 16 us in 16 bits
    };
    static_assert(sizeof(Line) == 16);

    struct Found {
        std::uint32_t way;  // index into the cache
        bool present;
        SectorMask written_back;  // dirty sectors of the line that had to leave
        SectorMask incomplete;    // those of them of which bytes are missing
    };

    struct Cleaned {
        SectorMask dirty = 0;  // sectors to write back
        SectorMask incomplete = 0;
    };

    // Finds the line in its set, or makes room for it (an empty Line). Either way it is the youngest of its
    // priority now; lines of a lower one leave first.
    Found find_or_allocate(std::uint32_t set, LineNumber line, Priority priority = Priority::Normal) {
        const std::uint32_t base = set * ways_;
        const std::int32_t now = ++clock_ + (static_cast<std::int32_t>(priority) - 1) * kPriorityStep;
        if (const std::uint32_t place = find(&tag_[base], line); place != 0) {
            const std::uint32_t way = base + place - 1;
            used_[way] = now;
            return {way, true, 0, 0};
        }
        const std::uint32_t way = base + find(&used_[base], least(&used_[base])) - 1;
        const Line gone = line_[way];
        tag_[way] = line;
        used_[way] = now;
        line_[way] = Line{};
        return {way, false, gone.dirty, gone.incomplete()};
    }

    // Fetches what a lookup in the set reads.
    void prefetch(std::uint32_t set) const {
        constexpr std::uint32_t kLinesOfACacheLine = 64 / sizeof(Line);
        const std::uint32_t base = set * ways_;
        __builtin_prefetch(&tag_[base]);
        __builtin_prefetch(&used_[base]);
        for (std::uint32_t i = 0; i < ways_; i += kLinesOfACacheLine) __builtin_prefetch(&line_[base + i]);
    }

    // When more than `most` lines of the set are dirty, or more than `most_incomplete` of them incomplete,
    // cleans the oldest of those, which stays, whole.
    Cleaned clean_beyond(std::uint32_t set, int most, int most_incomplete) {
        Oldest dirty, incomplete;
        const std::uint32_t base = set * ways_;
        for (std::uint32_t way = base; way < base + ways_; ++way) {
            if (line_[way].dirty == 0) continue;
            dirty.see(way, used_[way]);
            if (line_[way].incomplete() != 0) incomplete.see(way, used_[way]);
        }
        if (incomplete.found > most_incomplete) return clean(line_[incomplete.way]);
        if (dirty.found > most) return clean(line_[dirty.way]);
        return {};
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
    struct Oldest {
        int found = 0;
        std::uint32_t way = 0;
        std::int32_t used = 0;

        void see(std::uint32_t other, std::int32_t its_use) {
            if (found++ > 0 && its_use >= used) return;
            way = other;
            used = its_use;
        }
    };

    static Cleaned clean(Line& line) {
        const Cleaned cleaned{line.dirty, line.incomplete()};
        line.valid |= line.dirty;
        line.dirty = 0;
        return cleaned;
    }

    static constexpr LineNumber kNoLine = std::numeric_limits<LineNumber>::max();
    static constexpr std::int32_t kPriorityStep = 1 << 30;  // lookups of one slice: far fewer in any run

    // Both look at all ways of a set, four at a time: there is no way out to be guessed. Vectors as GCC and
    // Clang have them on any processor.
    static constexpr std::uint32_t kAtATime = 4;
    using Four [[gnu::vector_size(16)]] = std::int32_t;

    template <class T>
    static Four four(const T* ways) {
        static_assert(sizeof(T) * kAtATime == sizeof(Four));
        Four loaded;
        std::memcpy(&loaded, ways, sizeof loaded);
        return loaded;
    }

    // 1 + the place of what is `wanted` among a set's ways, or 0.
    template <class T>
    std::uint32_t find(const T* ways, T wanted) const {
        const Four each = Four{} + static_cast<std::int32_t>(wanted);
        Four number{1, 2, 3, 4}, found{};
        std::uint32_t way = 0;
        for (; way + kAtATime <= ways_; way += kAtATime) {
            found |= (four(ways + way) == each) & number;
            number += kAtATime;
        }
        std::int32_t place = (found[0] | found[1]) | (found[2] | found[3]);
        for (; way < ways_; ++way) place |= ways[way] == wanted ? static_cast<std::int32_t>(way) + 1 : 0;
        return static_cast<std::uint32_t>(place);
    }

    // The smallest of a set's ways.
    std::int32_t least(const std::int32_t* ways) const {
        Four found = Four{} + ways[0];
        std::uint32_t way = 0;
        for (; way + kAtATime <= ways_; way += kAtATime) {
            const Four next = four(ways + way);
            found = next < found ? next : found;
        }
        std::int32_t smallest = std::min(std::min(found[0], found[1]), std::min(found[2], found[3]));
        for (; way < ways_; ++way) smallest = std::min(smallest, ways[way]);
        return smallest;
    }

    std::uint32_t ways_;
    std::int32_t clock_ = 0;
    CacheAlignedVector<LineNumber> tag_;
    CacheAlignedVector<std::int32_t> used_;  // when, later for a higher priority
    CacheAlignedVector<Line> line_;
};

}  // namespace l2lens
