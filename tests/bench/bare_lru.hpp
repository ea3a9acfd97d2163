// SPDX-License-Identifier: Apache-2.0
// The yardstick: the least that any cache model does for a line. One set-associative LRU, a hash, a scan of
// 16 tags, no time, no sectors, no partitions.
#pragma once

#include <cstdint>
#include <vector>

#include "line_stream.hpp"

namespace l2lens::bench {

class BareLru {
public:
    explicit BareLru(std::int64_t bytes);

    bool touch(LineNumber line);

private:
    static constexpr std::uint32_t kWays = 16;

    std::uint32_t sets_;
    std::uint32_t clock_ = 0;
    std::vector<LineNumber> tag_;
    std::vector<std::uint32_t> used_;
};

// The share of the L2 that the sampled lanes are, in both partitions.
BareLru bare_lru_for(const LaneSample& sample);

// Lines a second that the bare loop does on the events of a stream, one thread, caches warm: the best of
// five.
double bare_lines_per_second(const LineStream& stream, const LaneSample& sample);

}  // namespace l2lens::bench
