// SPDX-License-Identifier: Apache-2.0
// Requests that wait in front of a slice: so many in the order in which they came, and behind those a queue
// for each CPC, let in in turn. How many is up to the slice: what it has let in and not answered counts, too,
// but for merged requests.
// (Measured: with 128 KiB in flight for each SM, four SMs of a CPC get what six of another get, with 64 KiB
// all SMs get the same, whether the L2 has the data or DRAM: traces/h200/shares.csv. When tags are what is
// short it is alike: docs/mechanisms.md.)
#pragma once

#include <cstdint>
#include <vector>

namespace l2lens {

class TurnQueue {
public:
    TurnQueue() = default;
    explicit TurnQueue(int queues) : queues_(static_cast<std::size_t>(queues)) {}

    bool empty() const { return in_order_ == 0 && waiting_ == 0; }

    // `room`: how many may wait in the order in which they came, now. One that comes while there is room
    // does, though others wait for their turn: those get on when one is let in. (The other way round, CTAs
    // that the GPU's CPCs pull apart keep together: docs/mechanisms.md.)
    void push(int queue, std::int32_t item, int room) {
        while (next_.size() <= static_cast<std::size_t>(item)) next_.push_back(-1);
        if (in_order_ < room) {
            ++in_order_;
            return append(first_come_, item);
        }
        append(queues_[static_cast<std::size_t>(queue)], item);
        ++waiting_;
    }

    // The next one; not to be called on an empty one.
    std::int32_t pop(int room) {
        if (in_order_ == 0) return take_turn();
        const std::int32_t item = take(first_come_);
        --in_order_;
        for (; in_order_ < room && waiting_ > 0; ++in_order_) append(first_come_, take_turn());
        return item;
    }

private:
    struct Queue {
        std::int32_t first = -1;
        std::int32_t last = -1;
    };

    void append(Queue& queue, std::int32_t item) {
        next_[static_cast<std::size_t>(item)] = -1;
        if (queue.first < 0) {
            queue.first = item;
        } else {
            next_[static_cast<std::size_t>(queue.last)] = item;
        }
        queue.last = item;
    }

    std::int32_t take(Queue& queue) {
        const std::int32_t item = queue.first;
        queue.first = next_[static_cast<std::size_t>(item)];
        return item;
    }

    // The first of the next CPC in turn that waits.
    std::int32_t take_turn() {
        do {
            turn_ = turn_ + 1 == queues_.size() ? 0 : turn_ + 1;
        } while (queues_[turn_].first < 0);
        --waiting_;
        return take(queues_[turn_]);
    }

    Queue first_come_;
    int in_order_ = 0;  // those in it
    std::vector<Queue> queues_;
    std::vector<std::int32_t> next_;  // by item
    std::size_t turn_ = 0;
    std::int64_t waiting_ = 0;  // for their CPC's turn
};

}  // namespace l2lens
