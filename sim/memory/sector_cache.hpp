// SPDX-License-Identifier: Apache-2.0
// The sets of one slice: a tag per line, a valid bit per sector, least recently used out first. A dirty line
// does not leave: it is cleaned when it has become the oldest of its set, and the next line leaves in its
// place (traces/h200/dirty_sets.csv). Tags and ages are separate arrays, so that a lookup is a scan of one or
// two cache lines.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

#include "base/cache_aligned.hpp"
#include "base/units.hpp"

namespace l2lens {

class SectorCache {
public:
    // Of a set with `most_dirty` dirty lines the oldest of them is cleaned, however young.
    SectorCache(std::uint32_t sets, int ways, int most_dirty)
        : ways_(static_cast<std::uint32_t>(ways)),
          most_dirty_(static_cast<std::uint32_t>(most_dirty)),
          set_(sets),
          tag_(static_cast<std::size_t>(sets) * ways_, kNoLine),
          used_(tag_.size()),
          line_(tag_.size()) {
        // Never used: before everything else, the first way first.
        for (std::size_t way = 0; way < used_.size(); ++way)
            used_[way] = std::numeric_limits<std::int32_t>::min() + static_cast<std::int32_t>(way % ways_);
    }

    // One that nobody writes to.
    SectorCache(std::uint32_t sets, int ways) : SectorCache(sets, ways, ways) {}

    // Who leaves first: PTX' eviction priorities.
    enum class Priority : std::uint8_t { EvictFirst, Normal, EvictLast };

    // Eight bytes, so that the 16 lines of a set are two cache lines of the processor.
    class Line {
    public:
        // Sectors that are here or on their way.
        SectorMask valid() const { return static_cast<SectorMask>(valid_); }
        void add(SectorMask sectors) { valid_ = (valid() | sectors) & kWholeLine; }
        // One that is not valid was written in part.
        SectorMask dirty() const { return static_cast<SectorMask>(dirty_); }
        // Dirty sectors of which bytes are missing.
        SectorMask incomplete() const { return static_cast<SectorMask>(dirty_ & ~valid_); }

        // The fabric fill under way, or -1.
        std::int32_t fill() const { return filling_ != 0 ? static_cast<std::int32_t>(when_) : -1; }
        void wait_for(std::int32_t fill) {
            filling_ = 1;
            when_ = static_cast<std::uint32_t>(fill);
            late_ = 0;
        }

        // When the last of its sectors has arrived; 0 while a fill is under way.
        Picoseconds ready() const { return filling_ != 0 ? 0 : static_cast<Picoseconds>(when_); }
        // When the lines of its box that are not simulated have arrived, too.
        Picoseconds settled() const { return ready() + static_cast<Picoseconds>(late_) * kLateUnit; }
        // Further sectors do, of a line that no fill is under way to.
        void arrives(Picoseconds when, Picoseconds settles) {
            settles = std::max(settles, settled());
            arrived(std::max(ready(), when), settles);
        }
        // The fill has: nothing from before counts.
        void arrived(Picoseconds when, Picoseconds settles) {
            filling_ = 0;
            when_ = static_cast<std::uint64_t>(std::min(when, kLast)) & kLast;
            const Picoseconds late = std::max(settles - when, Picoseconds{0}) / kLateUnit;
            late_ = static_cast<std::uint64_t>(std::min(late, kLatest)) & kLatest;
        }

    private:
        friend class SectorCache;

        void write(SectorMask sectors) { dirty_ = (dirty() | sectors) & kWholeLine; }

        static constexpr int kWhenBits = 42;  // 4.4 s: later than that everything counts as here
        static constexpr int kLateBits = 13;
        static constexpr Picoseconds kLast = (Picoseconds{1} << kWhenBits) - 1;
        static constexpr Picoseconds kLatest = (Picoseconds{1} << kLateBits) - 1;
        static constexpr Picoseconds kLateUnit = 256;  // 2 us in 13 bits

        std::uint64_t when_ : kWhenBits = 0;  // ready(), or the fill
        std::uint64_t late_ : kLateBits = 0;  // in kLateUnit: after ready()
        std::uint64_t filling_ : 1 = 0;
        std::uint64_t valid_ : kSectorsPerLine = 0;
        std::uint64_t dirty_ : kSectorsPerLine = 0;
    };
    static_assert(sizeof(Line) == 8);

    struct Cleaned {
        SectorMask dirty = 0;       // sectors to write back
        SectorMask incomplete = 0;  // those of them of which bytes are missing
        std::uint32_t way = 0;      // of the line, which stays
    };

    struct Found {
        std::uint32_t way;  // index into the cache
        bool present;
        Cleaned cleaned;  // a line of the set, before this one was looked for
    };

    // Finds the line in its set, or makes room for it (an empty Line). Either way it is the youngest of its
    // priority now; lines of a lower one leave first. `may_clean`: so may the set's oldest line be, whether
    // or not this one is there.
    Found find_or_allocate(std::uint32_t set, LineNumber line, Priority priority = Priority::Normal,
                           bool may_clean = true) {
        const std::uint32_t base = set * ways_;
        const std::int32_t now = ++clock_ + (static_cast<std::int32_t>(priority) - 1) * kPriorityStep;
        Set& state = set_[set];
        const std::uint32_t to_clean = state.dirty > 0 ? dirty_to_clean(state, base, may_clean) : kNoWay;
        const Cleaned cleaned = to_clean != kNoWay ? clean(set, to_clean) : Cleaned{};
        if (const std::uint32_t place = find(&tag_[base], line); place != 0) {
            const std::uint32_t way = base + place - 1;
            if (place == state.clean_oldest || priority != Priority::Normal) state.clean_oldest = 0;
            used_[way] = now;
            return {way, true, cleaned};
        }
        const std::uint32_t oldest =
            base + (state.clean_oldest != 0 ? state.clean_oldest : oldest_place(base)) - 1;
        const bool stays = oldest == to_clean || line_[oldest].dirty() != 0;
        const std::uint32_t way = stays ? oldest_clean_but(to_clean, base) : oldest;
        state.clean_oldest = 0;
        tag_[way] = line;
        used_[way] = now;
        line_[way] = Line{};
        return {way, false, cleaned};
    }

    // Sectors of a line that was just looked for are written.
    void write(std::uint32_t set, std::uint32_t way, SectorMask sectors) {
        if (line_[way].dirty() == 0) ++set_[set].dirty;
        line_[way].write(sectors);
    }

    // Fetches what a lookup in the set reads.
    void prefetch(std::uint32_t set) const {
        constexpr std::uint32_t kLinesOfACacheLine = 64 / sizeof(Line);
        const std::uint32_t base = set * ways_;
        __builtin_prefetch(&set_[set]);
        __builtin_prefetch(&tag_[base]);
        __builtin_prefetch(&used_[base]);
        for (std::uint32_t i = 0; i < ways_; i += kLinesOfACacheLine) __builtin_prefetch(&line_[base + i]);
    }

    // When more than `most` lines of the set are incomplete, cleans the oldest of those, which stays, whole.
    Cleaned clean_incomplete_beyond(std::uint32_t set, int most) {
        Oldest incomplete;
        const std::uint32_t base = set * ways_;
        for (std::uint32_t way = base; way < base + ways_; ++way)
            if (line_[way].incomplete() != 0) incomplete.see(way, used_[way]);
        return incomplete.found > most ? clean(set, incomplete.way) : Cleaned{};
    }

    // Calls visit(line, valid sectors) for each line that is held.
    template <class Visit>
    void for_each_line(Visit&& visit) const {
        for (std::size_t way = 0; way < tag_.size(); ++way) {
            if (tag_[way] != kNoLine) visit(tag_[way], line_[way].valid());
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

    struct Set {
        std::uint16_t dirty = 0;  // lines
        // 1 + the place of its oldest line, once that was looked for and is clean; else 0.
        std::uint16_t clean_oldest = 0;
    };

    // The oldest dirty line, if there are as many as may be, or if it is the oldest of all and may be
    // cleaned.
    std::uint32_t dirty_to_clean(Set& state, std::uint32_t base, bool may_clean) const {
        if (state.dirty >= most_dirty_) {
            Oldest dirty;
            for (std::uint32_t way = base; way < base + ways_; ++way)
                if (line_[way].dirty() != 0) dirty.see(way, used_[way]);
            return dirty.way;
        }
        if (state.clean_oldest != 0 || !may_clean) return kNoWay;
        const std::uint32_t place = oldest_place(base);
        state.clean_oldest = static_cast<std::uint16_t>(place);  // or will be
        return line_[base + place - 1].dirty() != 0 ? base + place - 1 : kNoWay;
    }

    // What has just been cleaned leaves only where everything else is dirty.
    std::uint32_t oldest_clean_but(std::uint32_t cleaned, std::uint32_t base) const {
        Oldest clean;
        for (std::uint32_t way = base; way < base + ways_; ++way)
            if (way != cleaned && line_[way].dirty() == 0) clean.see(way, used_[way]);
        return clean.found > 0 ? clean.way : cleaned;
    }

    Cleaned clean(std::uint32_t set, std::uint32_t way) {
        Line& line = line_[way];
        const Cleaned cleaned{line.dirty(), line.incomplete(), way};
        line.add(line.dirty());
        line.dirty_ = 0;
        --set_[set].dirty;
        return cleaned;
    }

    std::uint32_t oldest_place(std::uint32_t base) const { return find(&used_[base], least(&used_[base])); }

    static constexpr std::uint32_t kNoWay = std::numeric_limits<std::uint32_t>::max();
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
    std::uint32_t most_dirty_;
    std::int32_t clock_ = 0;
    std::vector<Set> set_;
    CacheAlignedVector<LineNumber> tag_;
    CacheAlignedVector<std::int32_t> used_;  // when, later for a higher priority
    CacheAlignedVector<Line> line_;
};

}  // namespace l2lens
