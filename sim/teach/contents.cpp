// SPDX-License-Identifier: Apache-2.0
#include "teach/contents.hpp"

#include <algorithm>

namespace l2lens {

Contents::Contents(const Machine& machine)
    : lanes_(machine.l2.slices_per_partition),
      ways_(machine.l2.ways),
      sets_(machine.sets_per_slice()),
      held_(static_cast<std::size_t>(machine.partitions) * static_cast<std::size_t>(lanes_) * sets_ *
            static_cast<std::size_t>(ways_)) {}

// Backwards there is no other way than from the start: what a line displaced is not told.
void Contents::play_to(std::span<const Access> accesses, std::size_t count) {
    if (count < played_) {
        std::ranges::fill(held_, HeldLine{});
        played_ = 0;
    }
    while (played_ < count) {
        const LaneStep& step = accesses[played_].step;
        ++played_;
        if (is_lookup(step)) apply(step);
    }
}

HeldLine Contents::displaced_by(const LaneStep& step) const {
    if (!is_lookup(step) || step.tag_found) return {};
    return at(step, step.way);
}

const HeldLine& Contents::at(const LaneStep& step, std::uint32_t way) const {
    return held_[first_of(step.partition, step.lane) + way];
}

std::span<const HeldLine> Contents::set(int partition, int lane, std::uint32_t set) const {
    const auto ways = static_cast<std::size_t>(ways_);
    return {held_.data() + first_of(partition, lane) + set * ways, ways};
}

void Contents::apply(const LaneStep& step) {
    HeldLine* const slice = &held_[first_of(step.partition, step.lane)];
    if (step.cleaned.dirty != 0) slice[step.cleaned.way].dirty = false;
    slice[step.way] = {true, step.line, step.after, played_, step.dirty != 0};
    if (step.completed.dirty != 0) slice[step.completed.way].dirty = false;
}

std::size_t Contents::first_of(int partition, int lane) const {
    const std::size_t slice = static_cast<std::size_t>(partition) * static_cast<std::size_t>(lanes_) +
                              static_cast<std::size_t>(lane);
    return slice * sets_ * static_cast<std::size_t>(ways_);
}

}  // namespace l2lens
