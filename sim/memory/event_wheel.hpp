// SPDX-License-Identifier: Apache-2.0
// A calendar queue for one unit of the model. Events are kept in buckets (of half a nanosecond, if nothing
// else is said) and leave a bucket in the order in which they were pushed: (time / bucket, push order) is the
// total order of a unit, whoever runs it. Times further away than the wheel is wide wait in an overflow list;
// they are pulled in before anything else can be pushed into their bucket, so the order holds for them too.
#pragma once

#include <array>
#include <bit>
#include <cassert>
#include <cstdint>
#include <vector>

#include "base/units.hpp"

namespace l2lens {

inline constexpr int kBucketShift = 9;  // 512 ps: finer than any clock cycle modelled

// A bucket is 2^Shift picoseconds, the wheel Size buckets wide (a power of two).
template <class Payload, int Shift = kBucketShift, std::size_t Size = 4096>
class EventWheel {
public:
    struct Event {
        Picoseconds time;
        Payload payload;
    };

    EventWheel() { slots_.fill({kNone, kNone}); }

    bool empty() const { return live_ == 0; }

    // Schedules an event; one in the past of the unit (a server that answers at once) is due now.
    void push(Picoseconds time, const Payload& payload) {
        std::int64_t bucket = time >> Shift;
        if (bucket < now_) bucket = now_;
        const std::int32_t node = take_node();
        nodes_[static_cast<std::size_t>(node)] = {time, kNone, payload};
        ++live_;
        if (bucket < horizon()) {
            append(bucket, node);
        } else {
            overflow_.push_back({bucket, node});
        }
    }

    // Hands every event before `end` (a multiple of the bucket) to body(time, payload), in order; the body
    // may push. Afterwards nothing may be pushed before `end`.
    template <class Body>
    void run_until(Picoseconds end, Body&& body) {
        const std::int64_t last = end >> Shift;
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
            const std::size_t slot = static_cast<std::size_t>(bucket) & kMask;
            std::int32_t& head = slots_[slot].head;
            while (head != kNone) {
                const std::int32_t node = head;
                Node& n = nodes_[static_cast<std::size_t>(node)];
                head = n.next;
                const Event event{n.time, n.payload};
                free_.push_back(node);
                --live_;
                body(event.time, event.payload);
            }
            occupied_[slot >> 6] &= ~(std::uint64_t{1} << (slot & 63));
        }
    }

private:
    static constexpr std::size_t kMask = Size - 1;
    static constexpr std::int64_t kHalf = Size / 2;
    static constexpr std::int32_t kNone = -1;

    struct Node {
        Picoseconds time;
        std::int32_t next;
        Payload payload;
    };
    struct Far {
        std::int64_t bucket;
        std::int32_t node;
    };

    std::int64_t horizon() const { return epoch_ + static_cast<std::int64_t>(Size); }

    std::int32_t take_node() {
        if (free_.empty()) {
            nodes_.emplace_back();
            return static_cast<std::int32_t>(nodes_.size() - 1);
        }
        const std::int32_t node = free_.back();
        free_.pop_back();
        return node;
    }

    void append(std::int64_t bucket, std::int32_t node) {
        const std::size_t slot = static_cast<std::size_t>(bucket) & kMask;
        if (slots_[slot].head == kNone) {
            slots_[slot].head = node;
            occupied_[slot >> 6] |= std::uint64_t{1} << (slot & 63);
        } else {
            nodes_[static_cast<std::size_t>(slots_[slot].tail)].next = node;
        }
        slots_[slot].tail = node;
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
    std::vector<Node> nodes_;
    std::vector<std::int32_t> free_;
    std::vector<Far> overflow_;
    std::int64_t now_ = 0;    // bucket
    std::int64_t epoch_ = 0;  // first bucket of the current half; the wheel covers [epoch, epoch + size)
    std::int64_t live_ = 0;
};

}  // namespace l2lens
