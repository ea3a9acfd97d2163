// SPDX-License-Identifier: Apache-2.0
// Something that serves lines one after another: the slices of a partition taken together, a port, DRAM.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "base/units.hpp"

namespace l2lens {

// First come, first served: whole boxes, one after the other.
class Server {
public:
    // When the service begins of what comes at `now`.
    Picoseconds take(Picoseconds now, Picoseconds service) {
        const Picoseconds start = std::max(now, free_);
        free_ = start + service;
        return start;
    }

    // The same for lines that have come one by one over `spread` up to `now`: when the last one has been
    // served, which takes `last`.
    Picoseconds take_stream(Picoseconds now, Picoseconds spread, Picoseconds service, Picoseconds last) {
        free_ = std::max(now - spread, free_) + service;
        return std::max(free_, now + last);
    }

private:
    Picoseconds free_ = 0;
};

// A server to which many boxes send their lines at the same time, one by one and so interleaved: all of them
// are late together. Kept as the rate at which work flows in, which changes where a box begins and where it
// ends; what waits at a moment is known once everything that is sent before it is written down. Time is cut
// into buckets shorter than a box.
class FlowServer {
public:
    // Writes down, at `now`, `work` that comes evenly over [from, to]; what is further ahead than the buckets
    // reach comes as late as they do.
    void add(Picoseconds now, Picoseconds from, Picoseconds to, Picoseconds work) {
        advance(now >> kShift);
        const std::int64_t first = std::clamp(from >> kShift, bucket_, bucket_ + kAhead - kMostOfBox - 1);
        const std::int64_t buckets = std::clamp<std::int64_t>((to >> kShift) - first + 1, 1, kMostOfBox);
        const auto rate = static_cast<std::int32_t>(
            static_cast<std::uint64_t>(work) * kReciprocal[static_cast<std::size_t>(buckets)] >> 32);
        (first > bucket_ ? at(first).change : at(first).rate) += rate;
        at(first + buckets).change -= rate;
    }

    // How long what comes at `now` waits; for times past, at most kAhead buckets ago, what it waited.
    Picoseconds backlog(Picoseconds now) {
        const std::int64_t bucket = now >> kShift;
        advance(bucket);
        const Bucket& in = at(bucket);
        const auto since = static_cast<std::int32_t>(now & (kWidth - 1));
        const auto come = static_cast<std::int32_t>(static_cast<std::int64_t>(in.rate) * since >> kShift);
        return std::max(in.waiting + come - since, 0);
    }

private:
    static constexpr int kShift = 15;  // 33 ns
    static constexpr std::int32_t kWidth = 1 << kShift;
    static constexpr std::int64_t kBuckets = 256;
    static constexpr std::int64_t kAhead = kBuckets / 2;
    static constexpr std::int64_t kMostOfBox = 63;

    struct Bucket {
        std::int32_t change = 0;   // of the rate, against the bucket before
        std::int32_t rate = 0;     // work that comes in it
        std::int32_t waiting = 0;  // at its beginning
    };
    void advance(std::int64_t bucket) {
        while (bucket_ < bucket) {
            const Bucket over = at(bucket_);
            at(bucket_ + kAhead).change = 0;  // its turn comes again
            Bucket& next = at(++bucket_);
            next.waiting = std::max(over.waiting + over.rate - kWidth, 0);
            next.rate = over.rate + next.change;
        }
    }
    Bucket& at(std::int64_t bucket) { return buckets_[static_cast<std::size_t>(bucket) % kBuckets]; }

    static constexpr std::array<std::uint64_t, kMostOfBox + 1> kReciprocal = [] {
        std::array<std::uint64_t, kMostOfBox + 1> reciprocal{};
        for (std::size_t n = 1; n <= kMostOfBox; ++n) reciprocal[n] = (std::uint64_t{1} << 32) / n;
        return reciprocal;
    }();

    std::array<Bucket, kBuckets> buckets_{};
    std::int64_t bucket_ = 0;  // the last one whose rate and waiting are known
};

}  // namespace l2lens
