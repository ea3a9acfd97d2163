// SPDX-License-Identifier: Apache-2.0
// How the lines of one box come back. All of a box's lines leave at the same pace, so for each the same time
// passes between two requests for it, and one number says how many of a box's lines are still on their way:
// none has landed before `opens`, and then, DRAM's latency being a constant, an exponential part and some
// lines' wait for a refresh, the share still missing falls as the chance of the two together to be longer,
// until the last one is there. Times are of the box's first line; line i is i issue slots later in
// everything.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "base/random.hpp"
#include "base/units.hpp"
#include "memory/refresh.hpp"

namespace l2lens {

// A share of a box's lines, in 1/256: whole numbers, so that sums are the same in any order.
using Share = std::uint32_t;
inline constexpr Share kAll = 256;

constexpr std::uint32_t share_of(std::uint32_t n, Share share) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(n) * share + kAll / 2) / kAll);
}

class LandingCurve {
public:
    explicit LandingCurve(double jitter_ps, const Refresh& refresh = {})
        : refresh_ps_(static_cast<double>(refresh.length())), refreshed_(refresh.share()) {
        const double longest = kMeans * jitter_ps + refresh_ps_;
        steps_per_ps_ = longest > 0 ? static_cast<double>(missing_.size()) / longest : 0;
        for (std::size_t i = 0; i < missing_.size() && longest > 0; ++i)
            missing_[i] = static_cast<Share>(
                std::lround(kAll * still_missing((static_cast<double>(i) + 0.5) / steps_per_ps_, jitter_ps)));
        for (std::size_t i = 0; i < slowest_.size(); ++i) {
            const double quantile = (static_cast<double>(i) + 0.5) / static_cast<double>(slowest_.size());
            slowest_[i] = static_cast<float>(-std::log(-std::log(quantile)));
        }
    }

    // Of lines that land from `opens` to `last`, those that have not at `now`.
    Share missing(Picoseconds now, Picoseconds opens, Picoseconds last) const {
        if (now >= last) return 0;
        if (now <= opens) return kAll;
        const auto step = static_cast<std::size_t>(static_cast<double>(now - opens) * steps_per_ps_);
        return step < missing_.size() ? missing_[step] : 0;
    }

    // The jitter of the slowest of n lines, given ln n and the mean jitter: Gumbel's limit of the largest of
    // n exponentials.
    Picoseconds slowest(double log_lines, double jitter_ps, RandomStream& random) const {
        const double means = log_lines + static_cast<double>(slowest_[random.next() >> (64 - kQuantileBits)]);
        return means > 0 ? static_cast<Picoseconds>(means * jitter_ps) : 0;
    }

private:
    static constexpr double kMeans = 8;  // of the exponential part: exp(-8) of a box is less than a line
    static constexpr int kQuantileBits = 9;

    // The chance of the exponential part and the wait for a refresh to be longer than `after` together.
    double still_missing(double after, double jitter_ps) const {
        const auto longer = [&](double than) { return jitter_ps > 0 ? std::exp(-than / jitter_ps) : 0; };
        if (refresh_ps_ == 0) return longer(after);
        const double under_way = std::min(after, refresh_ps_);
        const double with_refresh = 1 - under_way / refresh_ps_ +
                                    jitter_ps / refresh_ps_ * (longer(after - under_way) - longer(after));
        return (1 - refreshed_) * longer(after) + refreshed_ * with_refresh;
    }

    double refresh_ps_;
    double refreshed_;  // the share of lines that find one under way
    double steps_per_ps_ = 0;
    std::array<Share, 128> missing_{};
    std::array<float, 1u << kQuantileBits> slowest_{};
};

}  // namespace l2lens
