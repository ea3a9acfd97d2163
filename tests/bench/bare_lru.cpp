// SPDX-License-Identifier: Apache-2.0
#include "bare_lru.hpp"

#include <algorithm>
#include <ctime>
#include <limits>

#include <benchmark/benchmark.h>

#include "base/random.hpp"

namespace l2lens::bench {

BareLru::BareLru(std::int64_t bytes)
    : sets_(static_cast<std::uint32_t>(bytes / kLineBytes / kWays)),
      tag_(std::size_t{sets_} * kWays, std::numeric_limits<LineNumber>::max()),
      used_(tag_.size(), 0) {}

bool BareLru::touch(LineNumber line) {
    const auto set = static_cast<std::uint32_t>((mix64(line) >> 32) * sets_ >> 32);
    const std::uint32_t first = set * kWays;
    std::uint32_t oldest = first;
    ++clock_;
    for (std::uint32_t way = first; way < first + kWays; ++way) {
        if (tag_[way] == line) {
            used_[way] = clock_;
            return true;
        }
        if (used_[way] < used_[oldest]) oldest = way;
    }
    tag_[oldest] = line;
    used_[oldest] = clock_;
    return false;
}

BareLru bare_lru_for(const LaneSample& sample) {
    const Machine& machine = h200();
    return BareLru(machine.l2.slice_bytes * sample.count() * machine.partitions);
}

double bare_lines_per_second(const LineStream& stream, const LaneSample& sample) {
    BareLru lru = bare_lru_for(sample);
    double best = 0;
    for (int round = 0; round <= 5; ++round) {
        const std::clock_t begin = std::clock();
        std::int64_t hits = 0;
        for (const LineEvent& event : stream.events) hits += lru.touch(event.line);
        benchmark::DoNotOptimize(hits);
        const double seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
        if (round > 0) best = std::max(best, static_cast<double>(stream.events.size()) / seconds);
    }
    return best;
}

}  // namespace l2lens::bench
