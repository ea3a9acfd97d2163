// SPDX-License-Identifier: Apache-2.0
// A calendar queue for one unit of the model. Events are kept in buckets (of half a nanosecond, if nothing
// else is said) and leave a bucket in the order in which they were pushed: (time / bucket, push order) is the
// total order of a unit, whoever runs it. Times further away than the wheel is wide wait in an overflow list;
// they are pulled in before anything else can be pushed into their bucket, so the order holds for them too.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "base/cache_aligned.hpp"
#include "base/units.hpp"

namespace l2lens {

inline constexpr int kBucketShift = 9;  // 512 ps: finer than any clock cycle modelled

// A bucket is 2^Shift picoseconds, the wheel Size buckets wide (a power of two).
template <class Payload, int Shift = kBucketShift, std::size_t Size = 4096>
class EventWheel {
public:
    EventWheel() { slots_.fill({kNone, kNone}); }

    bool empty() const { return live_ == 0; }

    // Schedules an event; one in the past of the unit (a server that answers at once) is due now.
    void push(Picoseconds time, const Payload& payload) { add(time) = payload; }

    // The same for a payload that is written in its place: until the next push.
    Payload& add(Picoseconds time) {
        const std::int64_t bucket = std::max(time >> Shift, now_);
        const std::int32_t number = take_node();
        Node& node = node_at(number);
        node.offset = offset_of(time, bucket);
        node.next = kNone;
        ++live_;
        if (bucket < horizon()) {
            append(bucket, number);
        } else {
            overflow_.push_back({bucket, number});
        }
        return node.payload;
    }

    // Fetches where an event of that time will be put.
    void prefetch(Picoseconds time) const {
        __builtin_prefetch(&slots_[static_cast<std::size_t>(time >> Shift) & kMask], 1);
    }

    // Hands every event before `end` (a multiple of the bucket) to body(time, payload), in order; the body
    // may push. Afterwards nothing may be pushed before `end`. Shows most of them to soon(payload) a little
    // before, so that what the body will need can be fetched.
    template <class Body, class Soon>
    void run_until(Picoseconds end, Body&& body, Soon&& soon) {
        const std::int64_t last = end >> Shift;
        std::int64_t shown = now_;
        while (now_ < last) {
            if (live_ == 0) {
                advance(last);
                return;
            }
            const std::int64_t stop = std::min(last, epoch_ + kHalf);
            std::int64_t bucket = next_occupied(now_, stop);
            if (bucket == stop) {
                advance(stop);
                continue;
            }
            now_ = bucket;
            if constexpr (!std::is_same_v<std::decay_t<Soon>, Nobody>) {
                shown = std::max(shown, bucket);
                show(shown, std::min(bucket + kSoon, last), soon);
            }
            const std::size_t slot = static_cast<std::size_t>(bucket) & kMask;
            std::int32_t& head = slots_[slot].head;
            while (head != kNone) {
                const std::int32_t node = head;
                Node& n = node_at(node);
                const Picoseconds time = (bucket << Shift) + n.offset;
                const Payload payload = n.payload;
                head = n.next;
                free_.push_back(node);
                --live_;
                body(time, payload);
            }
            occupied_[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
        }
    }

    template <class Body>
    void run_until(Picoseconds end, Body&& body) {
        run_until(end, body, Nobody{});
    }

private:
    struct Nobody {};  // is shown what comes

    // What is shown that early takes an eighth off the time of all lanes of an H200, whose state is not in
    // the nearest caches: a thousand instructions or so are left for it to come.
    static constexpr std::int64_t kSoon = 16;     // buckets
    static constexpr std::size_t kTakenSoon = 8;  // nodes
    static constexpr std::size_t kMask = Size - 1;
    static constexpr std::int64_t kHalf = Size / 2;
    static constexpr std::int32_t kNone = -1;

    // Payloads of 24 bytes, as lanes and GPCs have, make two of them a cache line of the processor.
    struct Node {
        std::int32_t offset;  // from its bucket's begin; negative in the past of the unit
        std::int32_t next;
        Payload payload;
    };
    struct Far {
        std::int64_t bucket;
        std::int32_t node;
    };

    std::int64_t horizon() const { return epoch_ + static_cast<std::int64_t>(Size); }

    // What is further in the past than 2 ms counts as that.
    static std::int32_t offset_of(Picoseconds time, std::int64_t bucket) {
        constexpr auto kLongestPast = Picoseconds{std::numeric_limits<std::int32_t>::min()};
        return static_cast<std::int32_t>(std::max(time - (bucket << Shift), kLongestPast));
    }

    Node& node_at(std::int32_t node) { return nodes_[static_cast<std::size_t>(node)]; }

    std::int32_t take_node() {
        if (free_.empty()) {
            nodes_.emplace_back();
            return static_cast<std::int32_t>(nodes_.size() - 1);
        }
        const std::int32_t node = free_.back();
        free_.pop_back();
        if (free_.size() >= kTakenSoon) __builtin_prefetch(&node_at(free_[free_.size() - kTakenSoon]), 1);
        return node;
    }

    void append(std::int64_t bucket, std::int32_t node) {
        const std::size_t slot = static_cast<std::size_t>(bucket) & kMask;
        if (slots_[slot].head == kNone) {
            slots_[slot].head = node;
            occupied_[slot >> 6] |= std::uint64_t{1} << (slot & 63);
        } else {
            node_at(slots_[slot].tail).next = node;
        }
        slots_[slot].tail = node;
    }

    // Shows the events of the buckets from `shown` on, and fetches those of the buckets to be shown next.
    template <class Soon>
    void show(std::int64_t& shown, std::int64_t end, Soon&& soon) {
        for (; shown < end; ++shown) {
            if (const std::int32_t later = slots_[static_cast<std::size_t>(shown + kSoon) & kMask].head;
                later != kNone)
                __builtin_prefetch(&node_at(later));
            for (std::int32_t i = slots_[static_cast<std::size_t>(shown) & kMask].head; i != kNone;
                 i = node_at(i).next)
                soon(node_at(i).payload);
        }
    }

    // Moves the clock to `bucket`, at most to the end of the current half of the wheel, where the next half
    // opens.
    void advance(std::int64_t bucket) {
        now_ = bucket;
        while (now_ >= epoch_ + kHalf) {
            epoch_ += kHalf;
            pull_overflow();
        }
    }

    void pull_overflow() {
        std::size_t kept = 0;
        for (const Far& far : overflow_) {
            if (far.bucket < horizon()) {
                append(far.bucket, far.node);
            } else {
                overflow_[kept++] = far;
            }
        }
        overflow_.resize(kept);
    }

    std::int64_t next_occupied(std::int64_t from, std::int64_t stop) const {
        while (from < stop) {
            const std::size_t slot = static_cast<std::size_t>(from) & kMask;
            const std::uint64_t word = occupied_[slot >> 6] >> (slot & 63);
            if (word != 0) return std::min(stop, from + std::countr_zero(word));
            from += 64 - static_cast<std::int64_t>(slot & 63);
        }
        return stop;
    }

    struct Slot {
        std::int32_t head;
        std::int32_t tail;
    };
    std::array<Slot, Size> slots_;
    std::array<std::uint64_t, Size / 64> occupied_{};
    CacheAlignedVector<Node> nodes_;
    std::vector<std::int32_t> free_;
    std::vector<Far> overflow_;
    std::int64_t now_ = 0;    // bucket
    std::int64_t epoch_ = 0;  // first bucket of the current half; the wheel covers [epoch, epoch + size)
    std::int64_t live_ = 0;
};

}  // namespace l2lens
