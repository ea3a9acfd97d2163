// SPDX-License-Identifier: Apache-2.0
// Requests between a coalescer and its slice: a few that wait in order for a slice that takes none. What
// waits here has an entry, which others join meanwhile.
#pragma once

#include <cstddef>
#include <vector>

namespace l2lens {

template <class Request>
class LookupQueue {
public:
    LookupQueue() = default;
    explicit LookupQueue(int room) : ring_(static_cast<std::size_t>(room)) {}

    bool empty() const { return size_ == 0; }
    std::size_t size() const { return size_; }
    // The one before whom `i` others wait.
    const Request& at(std::size_t i) const { return ring_[place(i)]; }
    bool has_room() const { return size_ < ring_.size(); }

    // Not to be called without room.
    void push(const Request& request) {
        ring_[place(size_)] = request;
        ++size_;
    }

    // Not to be called on an empty one.
    Request pop() {
        const Request request = ring_[first_];
        first_ = first_ + 1 == ring_.size() ? 0 : first_ + 1;
        --size_;
        return request;
    }

private:
    std::size_t place(std::size_t i) const {
        const std::size_t place = first_ + i;
        return place < ring_.size() ? place : place - ring_.size();
    }

    std::vector<Request> ring_;
    std::size_t first_ = 0;
    std::size_t size_ = 0;
};

}  // namespace l2lens
