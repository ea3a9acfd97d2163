// SPDX-License-Identifier: Apache-2.0
// What the slices hold after some accesses of a tape: a ledger of what the lanes told, no cache of its own.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "machine/machine.hpp"
#include "memory/lane_observer.hpp"
#include "teach/tape.hpp"

namespace l2lens {

// A way of a set.
struct HeldLine {
    bool used = false;  // false: nothing was ever put here
    LineNumber line = 0;
    SectorMask valid = 0;    // or on their way
    std::uint64_t last = 0;  // the access that used it last, from 1; the least of a set leaves first,
    bool dirty = false;      // unless it is dirty
};

class Contents {
public:
    explicit Contents(const Machine& machine);

    // What the slices hold after the first `count` accesses.
    void play_to(std::span<const Access> accesses, std::size_t count);

    // The line that `step`, not applied yet, takes the way of; `used` false when there is none.
    HeldLine displaced_by(const LaneStep& step) const;

    // What a way holds, which a step tells as LaneStep::way.
    const HeldLine& at(const LaneStep& step, std::uint32_t way) const;

    // Of a slice's set, by way.
    std::span<const HeldLine> set(int partition, int lane, std::uint32_t set) const;
    std::uint32_t sets() const { return sets_; }
    int ways() const { return ways_; }

private:
    void apply(const LaneStep& step);
    std::size_t first_of(int partition, int lane) const;

    int lanes_;
    int ways_;
    std::uint32_t sets_;
    std::vector<HeldLine> held_;  // by partition, lane, set and way
    std::size_t played_ = 0;
};

// Merged reads never reach a slice.
inline bool is_lookup(const LaneStep& step) {
    return step.kind != LaneStep::Kind::Merged && step.kind != LaneStep::Kind::Answer;
}

}  // namespace l2lens
