// SPDX-License-Identifier: Apache-2.0
// Line number -> slice and set, of an L2 whose hash was solved: an H100 and an H200, with one formula.
//
// A line's number is its address with the lowest bits replaced by parities, the home's as the lowest. The
// number of slices divides it into a row and, as the remainder, a slot; a row has eight lines of each slot.
// A slot's lines have one home, and from either side they are asked of one slice, the same lane on both. Two
// slots, one of each home, share a lane: of four the outer two and the inner two, beyond the last sixteen
// slots that are whole one and the next. A line's place in its slice counts the rows' lines; places go around
// the sets, their lowest eight bits replaced by parities.
//
// Seen without exception: slices of 11416 granules of 64 GiB of an H200 and of an H100 (slices.csv of
// traces/h200 and traces/h100), the lines of 400 and 99 sets (sets.csv).
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/divisor.hpp"
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

    std::uint32_t lane(LineNumber line) const { return lane_of_slot_[slots_.remainder(number(line))]; }

    Place place(LineNumber line) const {
        const std::uint32_t n = number(line), row = slots_.quotient(n);
        const std::uint32_t place = row << kRowBits | in_row(line);
        const std::uint32_t turned = (place & ~kTurnedMask) | turn_.of(place);
        return {lane_of_slot_[n - row * slots()], sets_.remainder(turned)};
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
    static constexpr int kRowBits = Machine::Hash::kRowBits;
    static constexpr std::uint32_t kTurnedMask = (1u << Machine::Hash::kSetMasks) - 1;

    std::uint32_t slots() const { return slots_.value(); }
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
    Divisor slots_;
    Parities turn_;  // of a line's place in its slice
    Divisor sets_;
};

}  // namespace l2lens
