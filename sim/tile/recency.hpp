// SPDX-License-Identifier: Apache-2.0
// Least recently used, over units of different size: the L2 of one partition when whole boxes are its lines.
//
// A real L2 has sets, some fuller than others, so that of lines of the same age some are gone and some still
// there. Here the sets are a few classes of equal size, from the fullest to the emptiest: each class holds an
// equal share of every unit and is an LRU of its own capacity. The fullest lets go first, so a unit's state
// is one number, how many classes hold it.
//
// Every use is written down at the end of a log, and every unit remembers its last entry. The oldest entry
// that is still its unit's last one names the victim; stale entries are passed over. That is exact LRU with
// sequential writes instead of a linked list's scattered ones. A use so soon after the last one that no more
// than kSoon others lie between is not written down: it would not change who is oldest by more than that.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace l2lens {

inline constexpr std::uint32_t kSetClasses = 2;  // four give the same figures

class RecencyLog {
public:
    // `units` that could be held. The capacity is that of the whole partition if all sets were as full as a
    // class's, in lines, smallest first.
    RecencyLog(std::size_t units, const std::array<std::int64_t, kSetClasses>& capacity) : units_(units) {
        for (std::size_t c = 0; c < kSetClasses; ++c) classes_[c].capacity = capacity[c];
    }

    // Classes that hold a unit: 0 to kSetClasses.
    std::uint32_t holding(std::uint32_t unit) const { return units_[unit].holding(); }

    // Notes that a unit was used that all classes hold.
    void use(std::uint32_t unit) {
        if (next_use_ - units_[unit].last_use > kSoon) append(unit);
    }

    // Lets all classes hold a unit of `lines`. dropped(n, holders) is told of each class that lets go of a
    // unit n that was written to, and how many held it, that class included.
    template <class Dropped>
    void hold(std::uint32_t unit, std::uint32_t lines, Dropped&& dropped) {
        Unit& held = units_[unit];
        const std::uint32_t without = kSetClasses - held.holding();
        for (std::uint32_t c = 0; c < without; ++c) take_in(c, lines, dropped);
        const std::uint32_t written = without == kSetClasses ? 0 : held.state & kWritten;
        held.state = (lines & kMostLines) | kSetClasses << kHoldingShift | written;
        append(unit);
        if (log_.size() >= tidy_at_) tidy();
    }

    // The unit was written to, or has been written back.
    void mark_written(std::uint32_t unit, bool written) {
        std::uint32_t& state = units_[unit].state;
        state = written ? state | kWritten : state & ~kWritten;
    }
    bool written(std::uint32_t unit) const { return (units_[unit].state & kWritten) != 0; }

    void prefetch(std::uint32_t unit) const { __builtin_prefetch(&units_[unit]); }

private:
    static constexpr std::uint32_t kSoon = 64;
    static constexpr std::size_t kSmallLog = 1 << 14;

    // A unit's lines while it is held, the classes that hold it, and whether it was written to: one word,
    // since a part of one that was just stored is not at hand when the whole is loaded.
    static constexpr int kHoldingShift = 28;
    static constexpr std::uint32_t kMostLines = (1u << kHoldingShift) - 1;
    static constexpr std::uint32_t kWritten = 1u << 31;
    struct Unit {
        std::uint32_t last_use = 0;  // number of its last entry in the log
        std::uint32_t state = 0;

        std::uint32_t lines() const { return state & kMostLines; }
        std::uint32_t holding() const { return state >> kHoldingShift & 7u; }
    };
    static_assert(sizeof(Unit) == 8);
    static constexpr std::size_t kPrefetch = 8;  // entries of the log
    struct Use {
        std::uint32_t unit;
        std::uint32_t number;
    };
    struct Class {
        std::int64_t capacity = 0;
        std::int64_t used = 0;
        std::size_t oldest = 0;  // in the log: whatever is before is gone from this class
    };

    void append(std::uint32_t unit) {
        units_[unit].last_use = next_use_;
        log_.push_back({unit, next_use_++});
    }

    // Lets a class hold so many lines more, and let go of what it has no room for then.
    template <class Dropped>
    void take_in(std::uint32_t c, std::int64_t lines, Dropped&& dropped) {
        Class& sets = classes_[c];
        const std::uint32_t holding = kSetClasses - c;  // of a unit that no fuller class holds any more
        std::int64_t beyond = sets.used + lines - sets.capacity;
        for (; beyond > 0 && sets.oldest < log_.size(); ++sets.oldest) {
            const Use use = log_[sets.oldest];
            if (sets.oldest + kPrefetch < log_.size()) prefetch(log_[sets.oldest + kPrefetch].unit);
            Unit& unit = units_[use.unit];
            if (unit.last_use != use.number || unit.holding() < holding) continue;
            const std::uint32_t state = unit.state;
            unit.state = (state & (kWritten | kMostLines)) | (holding - 1) << kHoldingShift;
            beyond -= state & kMostLines;
            if ((state & kWritten) != 0) dropped(use.unit, holding);
        }
        sets.used = sets.capacity + beyond;
    }

    // Drops stale entries when they are most of the log.
    void tidy() {
        std::size_t kept = 0;
        std::array<std::size_t, kSetClasses> oldest{};
        for (std::size_t i = classes_.back().oldest; i < log_.size(); ++i) {
            const Unit& unit = units_[log_[i].unit];
            if (unit.holding() == 0 || unit.last_use != log_[i].number) continue;
            for (std::size_t c = 0; c < kSetClasses; ++c) oldest[c] += i < classes_[c].oldest ? 1u : 0u;
            log_[kept++] = log_[i];
        }
        for (std::size_t c = 0; c < kSetClasses; ++c) classes_[c].oldest = oldest[c];
        log_.resize(kept);
        tidy_at_ = 4 * kept + kSmallLog;
    }

    std::vector<Unit> units_;
    std::array<Class, kSetClasses> classes_;
    std::uint32_t next_use_ = kSoon + 1;
    std::vector<Use> log_;
    std::size_t tidy_at_ = kSmallLog;
};

}  // namespace l2lens
