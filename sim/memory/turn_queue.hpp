// SPDX-License-Identifier: Apache-2.0
// Requests that wait in front of a full slice: a queue for each CPC, served in turn. (Measured: with 128 KiB
// in flight for each SM, four SMs of a CPC get what six of another get, with 64 KiB all SMs get the same:
// traces/h200/shares.csv.)
#pragma once

#include <cstdint>
#include <vector>

namespace l2lens {

class TurnQueue {
public:
    TurnQueue() = default;
    explicit TurnQueue(int queues) : queues_(static_cast<std::size_t>(queues)) {}

    bool empty() const { return waiting_ == 0; }

    void push(int queue, std::int32_t item) {
        Queue& q = queues_[static_cast<std::size_t>(queue)];
        while (next_.size() <= static_cast<std::size_t>(item)) next_.push_back(-1);
        next_[static_cast<std::size_t>(item)] = -1;
        if (q.first < 0) {
            q.first = item;
        } else {
            next_[static_cast<std::size_t>(q.last)] = item;
        }
        q.last = item;
        ++waiting_;
    }

    // The first of the next queue in turn that is not empty; not to be called on an empty one.
    std::int32_t pop() {
        do {
            turn_ = turn_ + 1 == queues_.size() ? 0 : turn_ + 1;
        } while (queues_[turn_].first < 0);
        Queue& q = queues_[turn_];
        const std::int32_t item = q.first;
        q.first = next_[static_cast<std::size_t>(item)];
        --waiting_;
        return item;
    }

private:
    struct Queue {
        std::int32_t first = -1;
        std::int32_t last = -1;
    };

    std::vector<Queue> queues_;
    std::vector<std::int32_t> next_;  // by item
    std::size_t turn_ = 0;
    std::int64_t waiting_ = 0;
};

}  // namespace l2lens
