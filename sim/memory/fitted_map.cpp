// SPDX-License-Identifier: Apache-2.0
#include "memory/fitted_map.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <span>

#include "base/random.hpp"
#include "memory/parities.hpp"

namespace l2lens {
namespace {

// Rank over GF(2) of row vectors. The smaller of a row and its sum with a basis vector is the one without
// that vector's leading bit: no branch that half of all random rows would take.
int rank(std::span<const std::uint32_t> rows) {
    std::array<std::uint32_t, 32> basis;
    std::size_t found = 0;
    for (std::uint32_t row : rows) {
        for (std::size_t i = 0; i < found; ++i) row = std::min(row, row ^ basis[i]);
        if (row != 0) basis[found++] = row;
    }
    return static_cast<int>(found);
}

// Rows are the output bits' masks over the input bits, the most significant output first. A run of 2^w lines
// at any power-of-two stride sees w consecutive input bits: it spreads over 2^rank of the leading outputs.
// The sum of the ranks where it is more than `least`; else something that is not, as soon as that is known.
int spread_over_strides(std::span<const std::uint32_t> rows, int input_bits, int least) {
    constexpr int kLeading = 6;  // 64 buckets: about as many as a partition has slices
    int most = (input_bits - kLeading + 1) * kLeading;
    for (int first = 0; first + kLeading <= input_bits && most > least; ++first) {
        std::array<std::uint32_t, kLeading> window{};
        for (std::size_t i = 0; i < window.size(); ++i)
            window[i] = (rows[i] >> first) & ((1u << kLeading) - 1);
        most -= kLeading - rank(window);
    }
    return most;
}

}  // namespace

FittedMap::FittedMap(const Machine& machine)
    : granule_mask_(static_cast<std::uint32_t>(std::max(machine.hash.interleave_bytes / kLineBytes, 1) - 1)),
      lanes_(static_cast<std::uint32_t>(machine.l2.slices_per_partition)),
      sets_(machine.sets_per_slice()) {
    std::vector<std::uint32_t> home_masks = over_lines(machine.hash.home_masks);
    for (std::uint32_t& mask : home_masks) mask &= kPageLines - 1;
    number_bits_ = kPageBits - rank(home_masks);
    choose_matrix(home_masks);
    number_lanes();
}

// The best of some thousand random matrices: invertible together with the home bits, evenest over
// power-of-two strides.
void FittedMap::choose_matrix(const std::vector<std::uint32_t>& home_masks) {
    constexpr int kCandidates = 4096;
    const int granule_bits = std::popcount(granule_mask_);
    const auto outputs = static_cast<std::size_t>(number_bits_);
    std::vector<std::uint32_t> rows(outputs);  // most significant output first, then the home's
    rows.insert(rows.end(), home_masks.begin(), home_masks.end());
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
        const int spread = spread_over_strides(rows, kPageBits, best_spread);
        if (spread <= best_spread || rank(rows) != kPageBits) continue;
        best_spread = spread;
        best = rows;
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

void FittedMap::number_lanes() {
    const std::uint32_t numbers = 1u << number_bits_;
    first_of_lane_.assign(lanes_ + 1, numbers);
    lines_of_lane_.assign(lanes_, 0);
    for (std::uint32_t y = 0; y < numbers; ++y) {
        const std::uint32_t lane = lane_of_number(y);
        first_of_lane_[lane] = std::min(first_of_lane_[lane], y);
        lines_of_lane_[lane] += kPageLines / numbers;  // a page has each number once with each home
    }
}

}  // namespace l2lens
