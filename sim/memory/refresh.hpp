// SPDX-License-Identifier: Apache-2.0
// How long lines wait for a refresh of their bank of DRAM. Banks are refreshed one after the other, the same
// one of many channels at once: all lines that find theirs under way get on when that refresh ends. Groups of
// channels, six on an H200, end theirs at other times. What lies together and is of one group is of one bank:
// a lone copy of 16 KiB in one piece is of six, and in two of five cases waits for none, one of 128 rows that
// lie apart is of nearly all, and waits for the last of six refreshes (traces/h200/refresh.csv, paced.csv).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "base/units.hpp"

namespace l2lens {

class Refresh {
public:
    Refresh() = default;

    // `share` of banks are under refresh at a time. A simulated line stands for `lines`, of as many banks.
    Refresh(Picoseconds length, double share, int groups, double lines)
        : length_(share > 0 ? length : 0),
          groups_(static_cast<std::uint64_t>(groups)),
          own_(chance(share)),
          log_not_(std::log1p(-share)),
          others_(chance_of_group(lines - 1)) {}

    struct Waits {
        Picoseconds own;
        Picoseconds others;  // of the slowest line that it stands for; 0: none of them waits
    };

    // Of a line that comes to DRAM at `now`; 64 random bits, of which others may use the upper ones, too.
    Waits wait(Picoseconds now, LineNumber line, std::uint64_t random) const {
        if (length_ == 0) return {0, 0};
        const auto turn = static_cast<std::uint64_t>(now / length_);
        const std::uint64_t group = (hash(line >> 1, 0) >> 32) * groups_ >> 32;
        const std::uint64_t bank = hash((line >> kBankShift) * groups_ + group, turn);
        const Picoseconds own = bank >> 52 < own_ ? rest_in(turn, group) : 0;
        return {own, others_ > 0 ? longest_of_groups(turn, others_, random * kMix) : 0};
    }

    // Of a box of `lines`, some of which may find one under way in some groups; 64 random bits.
    Picoseconds longest(Picoseconds now, double lines, std::uint64_t random) const {
        if (length_ == 0) return 0;
        return longest_of_groups(static_cast<std::uint64_t>(now / length_), chance_of_group(lines), random);
    }

    // Of any line.
    Picoseconds mean() const { return static_cast<Picoseconds>(share() * static_cast<double>(length_) / 2); }

    Picoseconds length() const { return length_; }
    double share() const { return static_cast<double>(own_) / kChances; }
    // Of so many lines those that wait in one group, in the mean.
    double per_group(double lines) const { return lines * share() / static_cast<double>(groups_); }

private:
    static constexpr int kBankShift = 7;  // 16 KiB: how much is of one bank is not known
    static constexpr std::uint64_t kChances = 4096;
    static constexpr int kGroupBits = 10;  // drawn for each of six groups; more of them draw the same again
    static constexpr std::uint64_t kMix = 0x9E3779B97F4A7C15;  // lower bits then count in all upper ones

    static std::uint64_t chance(double share) {
        return static_cast<std::uint64_t>(std::lround(share * kChances));
    }

    // That one of so many lines finds a certain group's under way, of 2^kGroupBits.
    std::uint64_t chance_of_group(double lines) const {
        const double none = std::exp(lines * log_not_ / static_cast<double>(groups_));
        return static_cast<std::uint64_t>((1 - none) * (1 << kGroupBits));
    }

    // Of the groups whose chance comes up.
    Picoseconds longest_of_groups(std::uint64_t turn, std::uint64_t chance, std::uint64_t random) const {
        Picoseconds longest = 0;
        for (std::uint64_t group = 0; group < groups_; ++group, random = std::rotr(random, kGroupBits))
            if ((random & ((1 << kGroupBits) - 1)) < chance)
                longest = std::max(longest, rest_in(turn, group));
        return longest;
    }

    // Of the refresh of whoever comes in that time: any rest is as likely. When they end is not known; with
    // one period for all, who reads box after box would fall into step with it.
    Picoseconds rest_in(std::uint64_t turn, std::uint64_t group) const {
        constexpr std::uint64_t kRests = 1024;
        return length_ * static_cast<Picoseconds>(hash(~group, turn) >> 54) /
               static_cast<Picoseconds>(kRests);
    }

    // Any mix of the two does that reaches the upper bits.
    static std::uint64_t hash(std::uint64_t piece, std::uint64_t turn) {
        std::uint64_t bits = piece * kMix + turn * 0xD1B54A32D192ED03;
        bits = (bits ^ bits >> 32) * 0xBF58476D1CE4E5B9;
        return (bits ^ bits >> 32) * 0x94D049BB133111EB;
    }

    Picoseconds length_ = 0;
    std::uint64_t groups_ = 1;
    std::uint64_t own_ = 0;
    double log_not_ = 0;        // of the chance to find none
    std::uint64_t others_ = 0;  // chance_of_group() of those that a simulated line stands for
};

}  // namespace l2lens
