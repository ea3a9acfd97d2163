// SPDX-License-Identifier: Apache-2.0
// Line number -> home partition, lane (the slice's number inside its partition) and set.
//
// The home is the measured parity of address bits. NVIDIA publishes nothing about the rest; what is known is
// that slices are loaded evenly (94 slices of an H200 within 0.8 % over a GEMM), that power-of-two strides do
// not camp, and that contiguous memory fills sets very evenly, one stretch after the other, near and far
// lines together (traces/h200/sets.csv has an H200's sets line by line; here stretches come in another
// order). A bit matrix over each 2 MiB page, the form that was solved on V100 and A100, does all three: an
// invertible XOR of the page's line bits gives the home and a number y; the lane is y scaled to the number of
// slices, and y's place inside its lane, turned by another amount in each page and lane, counted from where
// the page begins, is the set; each page begins some 0.31 of the sets after the one before. Turned, pieces of
// pages fill sets as the H200's do (traces/h200/blocks.csv): evenly where they are whole pages that follow
// each other, as if by chance where they are 256 B of each 16 KiB. A copy of a far line takes the set of its
// home: where copies are lost their homes are, too.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "base/units.hpp"
#include "machine/machine.hpp"

namespace l2lens {

class AddressMap {
public:
    explicit AddressMap(const Machine& machine);

    int home(LineNumber line) const {
        return home_[0][line & kPieceMask] ^ home_[1][line >> kPieceBits & kPieceMask] ^
               home_[2][line >> 2 * kPieceBits];
    }

    // Lines whose numbers differ below these bits only have one home.
    int home_run_bits() const { return home_run_bits_; }

    int lane(LineNumber line) const { return static_cast<int>(lane_of_number(number(line))); }

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
                for (std::uint32_t lane = 0; lane < lanes_; ++lane)
                    visit(static_cast<int>(lane), lines_of_lane_[lane]);
            }
        }
        run_by_run(past);
    }

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

    // Of lines at a distance of `stride` from each other, `rows` of them, both powers of two: do as many have
    // either home, where there are two, rather than all the same? Of lines whose numbers are those of the
    // first with other bits in the places of the distances alone: a home is the parity of bits.
    bool homes_alternate(LineNumber stride, std::uint32_t rows) const {
        for (; rows > 1; rows /= 2, stride *= 2) {
            if (home(stride) != 0) return true;
        }
        return false;
    }

    int lanes() const { return static_cast<int>(lanes_); }
    std::uint32_t sets() const { return sets_; }

private:
    static constexpr int kPageBits = 14;  // of a 2 MiB page's lines
    static constexpr std::uint32_t kPageLines = 1u << kPageBits;
    static constexpr int kHalfBits = kPageBits / 2;
    static constexpr std::uint32_t kHalfMask = (1u << kHalfBits) - 1;
    static_assert(sizeof(LineNumber) == 4);

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
    // (traces/h200/microbenchmarks.csv), and of 0.3071 to 0.3072, alike in those, one that leaves the other
    // recorded tests within their bounds (docs/fidelity.md has the next best).
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
    void tabulate_homes();
    void choose_matrix();
    void number_lanes();

    // A line's home is the XOR of what its pieces have of it.
    static constexpr int kPieceBits = 11;
    static constexpr std::uint32_t kPieceMask = (1u << kPieceBits) - 1;
    std::array<std::array<std::uint8_t, 1u << kPieceBits>, 3> home_{};
    std::vector<std::uint32_t> home_masks_;  // over line bits
    int home_run_bits_ = 31;                 // below the lowest bit of these
    int number_bits_ = kPageBits;            // of y: the page's bits less the home's
    std::uint32_t granule_mask_ = 0;         // lines that stay in one slice
    std::array<std::uint32_t, 1u << kHalfBits> low_{};
    std::array<std::uint32_t, 1u << kHalfBits> high_{};
    std::vector<std::uint32_t> first_of_lane_;  // and after the last one's: the number of numbers
    std::vector<std::uint32_t> lines_of_lane_;  // in every page
    std::uint32_t lanes_ = 1;
    std::uint32_t sets_ = 1;
};

}  // namespace l2lens
