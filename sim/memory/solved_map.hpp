// SPDX-License-Identifier: Apache-2.0
// Line number -> slice and set, of an L2 whose hash was solved: an H100 and an H200, with one formula.
//
// A line's number is its address with the lowest bits replaced by parities, the home's first. Divided by the
// number of slices it leaves a slot, which is a slice, and gives a row: eight lines of each slot. Slots come
// in groups of four, near, far, near, far, or the other way round; a partition keeps the outer two of them in
// one slice and the inner two in another, so that a line's copy on the other side has the same place as its
// neighbour's own. Slots beyond the last sixteen that are whole come in pairs. A slice's lines, row after
// row, go around its sets, the lowest eight bits turned by parities of the others.
//
// Seen without exception: slices of 11416 granules of 64 GiB of an H200 and of an H100 (slices.csv of
// traces/h200 and traces/h100), the lines of 400 and 99 sets (sets.csv).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "machine/machine.hpp"
#include "memory/parities.hpp"

namespace l2lens {

class SolvedMap {
public:
    struct Place {
        std::uint32_t lane, set;
    };

    // The machine has hash.slot_masks.
    explicit SolvedMap(const Machine& machine);

    std::uint32_t lane(LineNumber line) const { return lane_of_slot_[number(line) % slots()]; }

    Place place(LineNumber line) const {
        const std::uint32_t n = number(line), row = n / slots();
        const std::uint32_t in_slice = row << kRowBits | in_row(line);
        const std::uint32_t turned = (in_slice & ~kTurnedMask) | turn_.of(in_slice);
        return {lane_of_slot_[n - row * slots()], turned % sets_};
    }

    // Calls visit(lane, lines) for the lines of a page, the first one's number given.
    template <class Visit>
    void for_each_lane_of_page(LineNumber first, std::uint32_t page_lines, Visit&& visit) const {
        const std::uint32_t numbers = page_lines >> kRowBits;  // all of them are there, eight times each
        const std::uint32_t first_slot = (first >> kRowBits) % slots();
        for (std::uint32_t i = 0; i < slots(); ++i) {
            const std::uint32_t slot = first_slot + i < slots() ? first_slot + i : first_slot + i - slots();
            const std::uint32_t times = numbers / slots() + (i < numbers % slots() ? 1 : 0);
            visit(static_cast<int>(lane_of_slot_[slot]), times << kRowBits);
        }
    }

private:
    static constexpr int kRowBits = 3;  // eight lines of a slot in each row
    static constexpr std::uint32_t kTurnedMask = 0xff;

    std::uint32_t slots() const { return static_cast<std::uint32_t>(lane_of_slot_.size()); }
    std::uint32_t number(LineNumber line) const {
        return line >> low_bits_ << (low_bits_ - kRowBits) | hashed_.of(line);
    }
    // Which of a row's eight lines.
    std::uint32_t in_row(LineNumber line) const {
        return (line >> row_bit_[0] & 1) | (line >> row_bit_[1] & 1) << 1 | (line >> row_bit_[2] & 1) << 2;
    }

    Parities hashed_;                      // of a line's number
    int low_bits_ = 0;                     // that these and a row's lines stand for
    std::array<int, kRowBits> row_bit_{};  // of a line's number
    std::vector<std::uint16_t> lane_of_slot_;
    Parities turn_;  // of a line's place in its slice
    std::uint32_t sets_ = 1;
};

}  // namespace l2lens
