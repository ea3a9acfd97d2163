// SPDX-License-Identifier: Apache-2.0
#include "memory/address_map.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/random.hpp"

namespace l2lens {
namespace {

// Rank over GF(2) of row vectors.
int rank(std::span<const std::uint32_t> rows) {
    std::array<std::uint32_t, 32> with_leading_bit{};  // a basis
    int found = 0;
    for (std::uint32_t row : rows) {
        while (row != 0) {
            std::uint32_t& other = with_leading_bit[static_cast<std::size_t>(std::bit_width(row) - 1)];
            if (other == 0) {
                other = row;
                ++found;
                break;
            }
            row ^= other;
        }
    }
    return found;
}

// Rows are the output bits' masks over the input bits, the most significant output first. A run of 2^w lines
// at any power-of-two stride sees w consecutive input bits: it spreads over 2^rank of the leading outputs.
int spread_over_strides(std::span<const std::uint32_t> rows, int input_bits) {
    constexpr int kLeading = 6;  // 64 buckets: about as many as a partition has slices
    int total = 0;
    for (int first = 0; first + kLeading <= input_bits; ++first) {
        std::array<std::uint32_t, kLeading> window{};
        for (std::size_t i = 0; i < window.size(); ++i)
            window[i] = (rows[i] >> first) & ((1u << kLeading) - 1);
        total += rank(window);
    }
    return total;
}

}  // namespace

AddressMap::AddressMap(const Machine& machine) {
    for (std::uint64_t mask : machine.hash.home_masks) {
        home_masks_.push_back(static_cast<std::uint32_t>(mask >> kLineShift));
        home_run_bits_ = std::min(home_run_bits_, std::countr_zero(home_masks_.back()));
    }
    std::vector<std::uint32_t> in_page;
    for (std::uint32_t mask : home_masks_) in_page.push_back(mask & ((1u << kPageBits) - 1));
    number_bits_ = kPageBits - rank(in_page);
    granule_mask_ = static_cast<std::uint32_t>(std::max(machine.hash.interleave_bytes / kLineBytes, 1) - 1);
    lanes_ = static_cast<std::uint32_t>(machine.l2.slices_per_partition);
    sets_ = static_cast<std::uint32_t>(machine.l2.slice_bytes / kLineBytes / machine.l2.ways);
    tabulate_homes();
    choose_matrix();
    number_lanes();
}

void AddressMap::tabulate_homes() {
    for (std::size_t piece = 0; piece < home_.size(); ++piece) {
        for (std::uint32_t value = 0; value <= kPieceMask; ++value) {
            const std::uint64_t line = std::uint64_t{value} << (piece * kPieceBits);
            for (std::size_t i = 0; i < home_masks_.size(); ++i) {
                const auto bit = static_cast<std::uint32_t>(__builtin_parityll(line & home_masks_[i]));
                home_[piece][value] |= static_cast<std::uint8_t>(bit << i);
            }
        }
    }
}

// The best of some thousand random matrices: invertible together with the home bits, evenest over
// power-of-two strides.
void AddressMap::choose_matrix() {
    constexpr int kCandidates = 4096;
    const int granule_bits = std::popcount(granule_mask_);
    const auto outputs = static_cast<std::size_t>(number_bits_);
    std::vector<std::uint32_t> rows(outputs);  // most significant output first, then the home's
    for (const std::uint32_t mask : home_masks_) rows.push_back(mask & ((1u << kPageBits) - 1));
    std::vector<std::uint32_t> best;
    int best_spread = -1;
    RandomStream random(0x12C0FFEE, 0);
    for (int candidate = 0; candidate < kCandidates; ++candidate) {
        for (int i = 0; i < number_bits_; ++i) {
            std::uint32_t& row = rows[static_cast<std::size_t>(i)];
            row = random.below(1u << kPageBits) & ~granule_mask_;
            const int output = number_bits_ - 1 - i;
            if (output < granule_bits) row |= 1u << output;  // a granule's lines follow each other
        }
        if (rank(rows) != kPageBits) continue;
        const int spread = spread_over_strides(rows, kPageBits);
        if (spread > best_spread) {
            best_spread = spread;
            best = rows;
        }
    }
    best.resize(outputs);
    for (std::uint32_t value = 0; value < low_.size(); ++value) {
        for (std::size_t i = 0; i < best.size(); ++i) {
            const auto output = best.size() - 1 - i;
            low_[value] |= static_cast<std::uint32_t>(__builtin_parity(best[i] & value)) << output;
            high_[value] |= static_cast<std::uint32_t>(__builtin_parity((best[i] >> kHalfBits) & value))
                            << output;
        }
    }
}

void AddressMap::number_lanes() {
    const std::uint32_t numbers = 1u << number_bits_;
    first_of_lane_.assign(lanes_ + 1, numbers);
    lines_of_lane_.assign(lanes_, 0);
    for (std::uint32_t y = 0; y < numbers; ++y) {
        const std::uint32_t lane = lane_of_number(y);
        first_of_lane_[lane] = std::min(first_of_lane_[lane], y);
        lines_of_lane_[lane] += kPageLines / numbers;  // a page has each number once with each home
    }
    page_drift_ = sets_ / 40;  // the nearest of some, as the order of the places
}

}  // namespace l2lens
