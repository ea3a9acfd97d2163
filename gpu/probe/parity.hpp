// SPDX-License-Identifier: Apache-2.0
// From readings to the hash: two levels of latency, and the address bits whose parity tells them apart.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace l2lens::gpu {

// The two groups that readings fall into (one-dimensional 2-means).
struct TwoLevels {
    double low = 0;  // means
    double high = 0;
    double threshold = 0;
    bool distinct = false;  // further apart than the groups are wide
};
TwoLevels split_levels(const std::vector<double>& readings);

// (offset, which side).
using Sided = std::vector<std::pair<std::uint64_t, bool>>;

struct ParityRule {
    std::uint64_t mask = 0;
    bool constant = false;
    double agreement = 0;  // share of the samples that follow the rule
    bool operator()(std::uint64_t offset) const;
};

// The mask within `candidates` and the constant with side = parity(offset & mask) ^ constant, by elimination
// over GF(2) on random subsets, so that a few wrong readings do no harm. Bits that the samples leave open are
// kept out of the mask. Empty when no rule fits `least_agreement` of the samples.
std::optional<ParityRule> solve_parity(const Sided& samples, std::uint64_t candidates,
                                       double least_agreement = 0.97);

// Pages of memory that are neighbours, the first one at an unknown place, and the mask of page-number bits
// with side = parity((first + page) & mask) ^ constant.
struct PageRule {
    std::uint64_t mask = 0;     // bit 0 is the page number's lowest
    std::uint64_t unclear = 0;  // bits that the pages leave open, kept out of the mask
    std::size_t pages = 0;      // as many of the first pages follow the rule, without exception
};

// The rule of as many pages as follow one: all, or the first half, or the first quarter, ... down to 32.
// Memory has `pages_of_memory` pages, which bounds where the first can be.
std::optional<PageRule> solve_pages(const std::vector<bool>& sides, std::size_t pages_of_memory);

}  // namespace l2lens::gpu
