// SPDX-License-Identifier: Apache-2.0
// A set of the L2 of naive_memory.hpp, as a list of its lines: which of them is cleaned, and which leaves
// (traces/h200/dirty_sets.csv). A Line has a number and masks of valid and of dirty sectors.
#pragma once

#include <algorithm>
#include <iterator>
#include <list>
#include <vector>

#include "base/units.hpp"
#include "machine/machine.hpp"

namespace l2lens::test {

template <class Line>
class NaiveSet {
public:
    Line* find(LineNumber number) {
        for (Line& line : lines_)
            if (line.number == number) return &line;
        return nullptr;
    }

    // Before a line is looked for: the oldest dirty one, if there are too many of them, or if it is the
    // oldest of a full set and DRAM takes it. It stays.
    Line* to_clean(const Machine::L2& l2, bool dram_takes_it) {
        const auto oldest = std::find_if(lines_.rbegin(), lines_.rend(), is_dirty);
        if (oldest == lines_.rend()) return nullptr;
        const bool many = std::count_if(lines_.begin(), lines_.end(), is_dirty) >= l2.dirty_ways;
        const bool leaves_next = is_full(l2) && oldest == lines_.rbegin();
        return many || (leaves_next && dram_takes_it) ? &*oldest : nullptr;
    }

    // The line, there or new and empty, as the youngest.
    Line& touch(const Machine::L2& l2, LineNumber number, const Line* cleaned) {
        for (auto line = lines_.begin(); line != lines_.end(); ++line) {
            if (line->number != number) continue;
            lines_.splice(lines_.begin(), lines_, line);
            return lines_.front();
        }
        if (is_full(l2)) make_room(cleaned);
        lines_.push_front(Line{});
        lines_.front().number = number;
        return lines_.front();
    }

    // The oldest of more than `most` lines that were written in part.
    Line* incomplete_beyond(int most) {
        std::vector<Line*> incomplete;  // the youngest first
        for (Line& line : lines_)
            if ((line.dirty & ~line.valid) != 0) incomplete.push_back(&line);
        return incomplete.size() > static_cast<std::size_t>(most) ? incomplete.back() : nullptr;
    }

private:
    static bool is_dirty(const Line& line) { return line.dirty != 0; }
    bool is_full(const Machine::L2& l2) const { return lines_.size() == static_cast<std::size_t>(l2.ways); }

    // The oldest clean line leaves, but for the one that has just been cleaned.
    void make_room(const Line* cleaned) {
        const auto may_leave = [&](const Line& line) { return !is_dirty(line) && &line != cleaned; };
        auto leaves = std::find_if(lines_.rbegin(), lines_.rend(), may_leave);
        if (leaves == lines_.rend())  // all others are dirty
            leaves = std::find_if(lines_.rbegin(), lines_.rend(),
                                  [&](const Line& line) { return &line == cleaned; });
        lines_.erase(std::prev(leaves.base()));
    }

    std::list<Line> lines_;  // the youngest first
};

}  // namespace l2lens::test
