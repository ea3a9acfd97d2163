// SPDX-License-Identifier: Apache-2.0
// How evenly the address hash spreads a launch's requests over the slices.
#include <algorithm>
#include <utility>
#include <vector>

#include "baseline/baseline.hpp"

namespace l2lens {
namespace {

// Counts whole lines by slice. Rows that follow each other in memory are one run: of whole pages the slices
// are known at once.
class RunCounter {
public:
    RunCounter(const AddressMap& map, std::vector<std::int64_t>& sectors) : map_(map), sectors_(sectors) {}

    void add(LineNumber line, std::uint32_t lines) {
        if (line != first_ + lines_) {
            count();
            first_ = line;
        }
        lines_ += lines;
    }
    // What was added last.
    void count() {
        map_.for_each_lane(first_, std::exchange(lines_, 0), [this](int lane, std::uint32_t n) {
            sectors_[static_cast<std::size_t>(lane)] += static_cast<std::int64_t>(n) * kSectorsPerLine;
        });
    }

private:
    const AddressMap& map_;
    std::vector<std::int64_t>& sectors_;
    LineNumber first_ = 0;
    std::uint32_t lines_ = 0;
};

// Adds the sectors of all requests of a walk, made once, to those of the slices.
void add_walk(const Work& work, const AddressMap& map, std::int32_t id, std::vector<std::int64_t>& sectors) {
    const BoxWalk& walk = work.walk(id);
    const Tensor& tensor = work.kernel().tensors[static_cast<std::size_t>(walk.tensor)];
    const std::int64_t steps = work.walk_steps(id);
    RunCounter runs(map, sectors);
    const auto add_whole_rows = [&](const BoxWalk& rows, std::int64_t k) {
        const bool whole = for_each_whole_row(
            tensor, rows, k, [&runs](LineNumber line, std::uint32_t lines) { runs.add(line, lines); });
        runs.count();
        return whole;
    };
    if (const auto all = joined_steps(tensor, walk, 0, steps); all && add_whole_rows(*all, 0)) return;
    for (std::int64_t k = 0; k < steps; ++k) {
        if (add_whole_rows(walk, k)) continue;
        for_each_line(tensor, walk, k, [&](const LineRequest& request) {
            sectors[static_cast<std::size_t>(map.lane(request.line))] += __builtin_popcount(request.sectors);
        });
    }
}

}  // namespace

std::vector<double> requested_per_slice(const Work& work, const AddressMap& map, Executor& executor) {
    const auto lanes = static_cast<std::size_t>(map.lanes());
    // Any number of walks a thread; each share has sums of its own, and integers add up to the same in any
    // order.
    constexpr std::size_t kMostShares = 64;
    const std::size_t shares = std::min(work.walks(), kMostShares);
    std::vector<std::vector<std::int64_t>> sectors(shares);
    executor.for_each(shares, [&](std::size_t share) {
        std::vector<std::int64_t> sum(lanes, 0), once(lanes);
        for (std::size_t w = share; w < work.walks(); w += shares) {
            const auto id = static_cast<std::int32_t>(w);
            std::fill(once.begin(), once.end(), 0);
            add_walk(work, map, id, once);
            for (std::size_t lane = 0; lane < lanes; ++lane) sum[lane] += once[lane] * work.walk_uses(id);
        }
        sectors[share] = std::move(sum);
    });
    std::vector<std::int64_t> all(lanes, 0);
    for (const std::vector<std::int64_t>& sum : sectors)
        for (std::size_t lane = 0; lane < lanes; ++lane) all[lane] += sum[lane];
    return {all.begin(), all.end()};
}

double max_over_mean(std::span<const double> loads) {
    double sum = 0;
    for (const double load : loads) sum += load;
    return sum > 0 ? *std::max_element(loads.begin(), loads.end()) * static_cast<double>(loads.size()) / sum
                   : 1.0;
}

}  // namespace l2lens
