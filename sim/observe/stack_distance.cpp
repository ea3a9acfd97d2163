// SPDX-License-Identifier: Apache-2.0
#include "observe/stack_distance.hpp"

#include <algorithm>
#include <utility>

namespace l2lens {
namespace {

constexpr std::size_t kFirstTimes = 1024;

}  // namespace

StackDistance::StackDistance() : tree_(kFirstTimes + 1, 0) {}

std::optional<std::int64_t> StackDistance::use(LineNumber line) {
    if (now_ + 1 == tree_.size()) renumber();
    ++now_;
    const auto [place, first] = last_use_.try_emplace(line, static_cast<std::uint32_t>(now_));
    std::optional<std::int64_t> distance;
    if (!first) {
        // A mark per line; those up to its own are the lines that were not used since.
        distance = static_cast<std::int64_t>(last_use_.size()) - marks_up_to(place->second);
        mark(place->second, -1);
        place->second = static_cast<std::uint32_t>(now_);
    }
    mark(now_, 1);
    return distance;
}

void StackDistance::mark(std::size_t time, std::int32_t by) {
    for (; time < tree_.size(); time += time & (~time + 1)) tree_[time] += by;
}

std::int64_t StackDistance::marks_up_to(std::size_t time) const {
    std::int64_t sum = 0;
    for (; time > 0; time -= time & (~time + 1)) sum += tree_[time];
    return sum;
}

// The axis is full: the marks move together, in their order, and at least as many times lie ahead again.
void StackDistance::renumber() {
    std::vector<std::pair<std::uint32_t, LineNumber>> marks;
    marks.reserve(last_use_.size());
    for (const auto& [line, time] : last_use_) marks.emplace_back(time, line);
    std::sort(marks.begin(), marks.end());
    tree_.assign(std::max(kFirstTimes, 2 * marks.size()) + 1, 0);
    now_ = 0;
    for (const auto& [time, line] : marks) {
        last_use_[line] = static_cast<std::uint32_t>(++now_);
        mark(now_, 1);
    }
}

}  // namespace l2lens
