// SPDX-License-Identifier: Apache-2.0
// Reuse distances of a stream of lines: how many distinct other lines came between two uses of one. An LRU
// cache of C lines hits exactly the uses at a distance below C (Mattson et al., IBM Systems Journal 9(2),
// 1970), so that one pass tells the hit rate of every capacity.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "base/units.hpp"

namespace l2lens {

// Each line's last use is a mark on a time axis, and the marks after it are counted by a Fenwick tree
// (Bennett and Kruskal, IBM J. Res. Dev. 19(4), 1975; Olken, LBL-12370, 1981): O(log n) a use.
class StackDistance {
public:
    StackDistance();

    // Distinct other lines used since the line was used last; nothing for its first use.
    std::optional<std::int64_t> use(LineNumber line);

    std::size_t distinct_lines() const { return last_use_.size(); }

private:
    void mark(std::size_t time, std::int32_t by);
    std::int64_t marks_up_to(std::size_t time) const;
    void renumber();

    std::unordered_map<LineNumber, std::uint32_t> last_use_;
    std::vector<std::int32_t> tree_;  // 1-based
    std::size_t now_ = 0;             // the time of the latest use
};

}  // namespace l2lens
