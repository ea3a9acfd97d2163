// SPDX-License-Identifier: Apache-2.0
// Line number -> home partition, lane (the slice's number inside its partition) and set.
//
// The home is the measured parity of address bits. The rest is known to the set where the hash was solved
// (solved_map.hpp), else something as even (fitted_map.hpp). A copy of a far line takes the lane and the set
// of its home: where copies are lost their homes are, too. Which page of the GPU's memory buffers got is
// not known: a seed draws one, so that a mean over seeds is one over places.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/units.hpp"
#include "machine/machine.hpp"
#include "memory/fitted_map.hpp"
#include "memory/line_place.hpp"
#include "memory/parities.hpp"
#include "memory/solved_map.hpp"

namespace l2lens {

class AddressMap {
public:
    // Line 0 is the first one of a page that the seed draws; of seed 0, the memory's first.
    explicit AddressMap(const Machine& machine, std::uint64_t seed = 0);

    int home(LineNumber line) const { return static_cast<int>(home_.of(first_ + line)); }

    // Lines whose numbers differ below these bits only have one home.
    int home_run_bits() const { return home_run_bits_; }

    int lane(LineNumber line) const {
        return static_cast<int>(solved_ ? solved_->lane(first_ + line) : fitted_->lane(first_ + line));
    }

    std::uint32_t set(LineNumber line) const {
        return solved_ ? solved_->place(first_ + line).set : fitted_->set(first_ + line);
    }

    LinePlace place(LineNumber line) const { return {set(line), home(line)}; }

    // Calls visit(lane, n) for all of the `lines` lines from `line` on, n of them at a time: a whole page's
    // of a lane together, else those of a run that lie in one lane.
    template <class Visit>
    void for_each_lane(LineNumber line, std::uint32_t lines, Visit&& visit) const {
        const auto run_by_run = [&](LineNumber past) {
            while (line != past) {
                const std::uint32_t n = std::min(granule_mask_ + 1 - (line & granule_mask_), past - line);
                visit(lane(line), n);
                line += n;
            }
        };
        const LineNumber past = line + lines;
        if (lines >= kPageLines) {
            run_by_run(ceil_div(line, kPageLines) * kPageLines);
            for (; past - line >= kPageLines; line += kPageLines) {
                if (solved_)
                    solved_->for_each_lane_of_page(first_ + line, kPageLines, visit);
                else
                    fitted_->for_each_lane_of_page(visit);
            }
        }
        run_by_run(past);
    }

    // Calls visit(lane, set) for each of the `lines` lines from `line` on.
    template <class Visit>
    void for_each_set(LineNumber line, std::uint32_t lines, Visit&& visit) const {
        line += first_;
        if (fitted_) return fitted_->for_each_set(line, lines, visit);
        for (const LineNumber past = line + lines; line != past; ++line) {
            const SolvedMap::Place place = solved_->place(line);
            visit(static_cast<int>(place.lane), place.set);
        }
    }

    // Of lines at a distance of `stride` from each other, `rows` of them, both powers of two: do as many have
    // either home, where there are two, rather than all the same? Of lines whose numbers are those of the
    // first with other bits in the places of the distances alone: a home is the parity of bits.
    bool homes_alternate(LineNumber stride, std::uint32_t rows) const {
        for (; rows > 1; rows /= 2, stride *= 2) {
            if (home_.of(stride) != 0) return true;
        }
        return false;
    }

    int lanes() const { return static_cast<int>(lanes_); }
    std::uint32_t sets() const { return sets_; }

private:
    static constexpr std::uint32_t kPageLines = (2 << 20) / kLineBytes;
    static_assert(sizeof(LineNumber) == 4);

    LineNumber first_ = 0;
    Parities home_;
    int home_run_bits_ = 31;          // below the lowest bit of the homes' masks
    std::uint32_t granule_mask_ = 0;  // lines that stay in one slice
    std::uint32_t lanes_ = 1;
    std::uint32_t sets_ = 1;
    std::optional<SolvedMap> solved_;  // either this one
    std::optional<FittedMap> fitted_;  // or this
};

}  // namespace l2lens
