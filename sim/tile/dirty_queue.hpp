// SPDX-License-Identifier: Apache-2.0
// Units that wait to be written back to DRAM, oldest first. A set lets a part of its ways wait
// (l2.dirty_ways); of all sets together that is a number of sectors.
#pragma once

#include <cstdint>
#include <deque>

namespace l2lens {

class DirtyQueue {
public:
    explicit DirtyQueue(std::int64_t most_sectors) : most_(most_sectors) {}

    void add(std::uint32_t unit, std::uint32_t sectors) {
        units_.push_back(unit);
        waiting_ += sectors;
    }
    // A unit of them waits again with sectors that had been written back.
    void put_back(std::uint32_t sectors) { waiting_ += sectors; }
    // A unit of them was let go of and written back.
    void remove(std::uint32_t sectors) { waiting_ -= sectors; }

    // Calls clean(unit), which returns the sectors it wrote back, until no more wait than may.
    template <class Clean>
    void clean_beyond(Clean&& clean) {
        while (waiting_ > most_ && !units_.empty()) {
            const std::uint32_t oldest = units_.front();
            units_.pop_front();
            waiting_ -= clean(oldest);
        }
    }

private:
    std::int64_t most_;
    std::int64_t waiting_ = 0;
    std::deque<std::uint32_t> units_;
};

}  // namespace l2lens
