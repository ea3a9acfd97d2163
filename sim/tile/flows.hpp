// SPDX-License-Identifier: Apache-2.0
// Servers to which many boxes send their lines at the same time, one by one and so interleaved: all of them
// are late together. Kept as the rate at which work flows into each, which changes where a box begins and
// where it ends; what waits at a moment is known once everything that is sent before it is written down. Time
// is cut into buckets shorter than a box, the same for all servers: a bucket's numbers lie side by side.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/units.hpp"

namespace l2lens {

class Flows {
public:
    // expected() may be asked of the first `foreseen` servers, whose work add_foreseen() writes down.
    explicit Flows(std::size_t servers, std::size_t foreseen = 0)
        : servers_((servers + 3) / 4 * 4),
          foreseen_(foreseen),
          rate_(kBuckets * servers_),
          waiting_(kBuckets * servers_),
          begins_(kBuckets * foreseen),
          to_begin_(foreseen) {}

    // Time has come to `now`.
    void advance(Picoseconds now) {
        const std::int64_t bucket = now >> kShift;
        while (bucket_ < bucket) step();
    }

    // The buckets of a time to come.
    struct Span {
        std::int64_t first;
        std::int64_t end;
        std::uint64_t per_bucket;  // 2^32 over their number
    };
    // [from, to], as far as the buckets reach; what should have begun already begins now.
    Span span(Picoseconds from, Picoseconds to) const {
        const std::int64_t begin = from >> kShift;
        const std::int64_t buckets = std::clamp<std::int64_t>((to >> kShift) - begin + 1, 1, kMostOfBox);
        const std::int64_t first = std::clamp(begin, bucket_, bucket_ + kAhead - kMostOfBox);
        return {first, first + buckets, kReciprocal[static_cast<std::size_t>(buckets)]};
    }

    // Writes down `work` that comes evenly over a span.
    void add(std::size_t server, const Span& span, Picoseconds work) {
        const std::int32_t rate = rate_of(span, work);
        rate_[at(span.first) + server] += rate;
        rate_[at(span.end) + server] -= rate;
    }
    void add_foreseen(std::size_t server, const Span& span, Picoseconds work) {
        add(server, span, work);
        if (span.first == bucket_) return;
        const std::int32_t rate = rate_of(span, work);
        begins_[begins_at(span.first) + server] += rate;
        to_begin_[server] += rate;
    }

    // Is it still known what waited then?
    bool known(Picoseconds when) const { return when >> kShift >= bucket_ - kPast; }

    // How long what comes at `when` waits; for times past, what it waited, and for those to come, what would
    // wait next. Of what came more than kPast buckets ago nothing is known any more.
    Picoseconds backlog(std::size_t server, Picoseconds when) const {
        std::int64_t bucket = when >> kShift;
        auto since = static_cast<std::int32_t>(when & (kWidth - 1));
        if (bucket > bucket_) {
            bucket = bucket_;
            since = kWidth;
        } else if (bucket < bucket_ - kPast) {
            return 0;
        }
        const std::size_t there = at(bucket) + server;
        return waits(waiting_[there], rate_[there], since);
    }

    // The share of a server's time that the work takes which flows into it at `when`, of times to come now,
    // of those that are forgotten at the first one that is not.
    double load(std::size_t server, Picoseconds when) const {
        const std::int64_t bucket = std::clamp(when >> kShift, bucket_ - kPast, bucket_);
        return static_cast<double>(rate_[at(bucket) + server]) / kWidth;
    }

    // How long what will come at `when`, some buckets from now, is going to wait behind what is written down.
    Picoseconds expected(std::size_t server, Picoseconds when) const {
        const std::size_t now = at(bucket_) + server;
        // Nothing waits, and all that is to begin fits beside what flows now: nothing ever will.
        if (waiting_[now] == 0 && rate_[now] + to_begin_[server] <= kWidth) return 0;
        return foresee(server, when);
    }
    // The same of any server.
    Picoseconds foresee(std::size_t server, Picoseconds when) const {
        std::int32_t waiting = waiting_[at(bucket_) + server];
        std::int32_t rate = rate_[at(bucket_) + server];
        const std::int64_t bucket = std::clamp(when >> kShift, bucket_, bucket_ + kAhead - 1);
        for (std::int64_t next = bucket_ + 1; next <= bucket; ++next) {
            waiting = std::max(waiting + rate - kWidth, 0);
            rate += rate_[at(next) + server];
        }
        return waits(waiting, rate, static_cast<std::int32_t>(when & (kWidth - 1)));
    }

private:
    static constexpr int kShift = 15;  // 33 ns
    static constexpr std::int32_t kWidth = 1 << kShift;
    static constexpr std::int64_t kBuckets = 256;
    static constexpr std::int64_t kAhead = 160;
    static constexpr std::int64_t kPast = kBuckets - kAhead - 2;
    static constexpr std::int64_t kMostOfBox = 80;  // 2.6 us: six steps of 128 x 128 x 64 take 1.8

    static constexpr std::array<std::uint64_t, kMostOfBox + 1> kReciprocal = [] {
        std::array<std::uint64_t, kMostOfBox + 1> reciprocal{};
        for (std::size_t n = 1; n <= kMostOfBox; ++n) reciprocal[n] = (std::uint64_t{1} << 32) / n;
        return reciprocal;
    }();

    static std::int32_t rate_of(const Span& span, Picoseconds work) {
        return static_cast<std::int32_t>(static_cast<std::uint64_t>(work) * span.per_bucket >> 32);
    }
    static Picoseconds waits(std::int32_t waiting, std::int32_t rate, std::int32_t since) {
        const auto come = static_cast<std::int32_t>(static_cast<std::int64_t>(rate) * since >> kShift);
        return std::max(waiting + come - since, 0);
    }
    std::size_t at(std::int64_t bucket) const {
        return static_cast<std::size_t>(bucket & (kBuckets - 1)) * servers_;
    }
    std::size_t begins_at(std::int64_t bucket) const {
        return static_cast<std::size_t>(bucket & (kBuckets - 1)) * foreseen_;
    }
    void step() {
        const std::int32_t* const waiting = &waiting_[at(bucket_)];
        const std::int32_t* const rate = &rate_[at(bucket_)];
        ++bucket_;
        std::int32_t* const next_waiting = &waiting_[at(bucket_)];
        std::int32_t* const next_rate = &rate_[at(bucket_)];
        for (std::size_t i = 0; i < servers_; ++i)
            next_waiting[i] = std::max(waiting[i] + rate[i] - kWidth, 0);
        for (std::size_t i = 0; i < servers_; ++i) next_rate[i] += rate[i];
        std::fill_n(&rate_[at(bucket_ + kAhead)], servers_, 0);  // its turn comes again
        for (std::size_t i = 0; i < foreseen_; ++i)
            to_begin_[i] -= std::exchange(begins_[begins_at(bucket_) + i], 0);
    }

    std::size_t servers_;
    std::size_t foreseen_;
    // Of a bucket, by server: the work that comes in it (of one to come the change against the one before),
    // and what waits at its beginning.
    std::vector<std::int32_t> rate_;
    std::vector<std::int32_t> waiting_;
    std::vector<std::int32_t> begins_;    // of a bucket to come, by server: the rates that begin in it
    std::vector<std::int32_t> to_begin_;  // by server: all of them
    std::int64_t bucket_ = 0;             // the last one that has begun
};

}  // namespace l2lens
