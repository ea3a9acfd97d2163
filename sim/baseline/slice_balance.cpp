// SPDX-License-Identifier: Apache-2.0
// How evenly the address hash spreads a launch's requests over the slices.
#include <algorithm>
#include <utility>
#include <vector>

#include "baseline/baseline.hpp"

namespace l2lens {
namespace {

// Adds the sectors of all requests of a walk, made once, to those of the slices.
void add_walk(const Work& work, const AddressMap& map, std::int32_t id, std::vector<std::int64_t>& sectors) {
    const BoxWalk& walk = work.walk(id);
    const Tensor& tensor = work.kernel().tensors[static_cast<std::size_t>(walk.tensor)];
    std::int64_t* const counted = sectors.data();
    // A row's lines, run by run: the lines of a run lie in one slice.
    const LineNumber in_run = (LineNumber{1} << map.lane_run_bits()) - 1;
    const auto add_row = [&](LineNumber line, std::uint32_t lines) {
        for (const LineNumber past = line + lines; line != past;) {
            const LineNumber next = past - line <= in_run - (line & in_run) ? past : (line | in_run) + 1;
            counted[map.lane(line)] += static_cast<std::int64_t>(next - line) * kSectorsPerLine;
            line = next;
        }
    };
    const std::int64_t steps = work.walk_steps(id);
    if (const auto all = joined_steps(tensor, walk, 0, steps);
        all && for_each_whole_row(tensor, *all, 0, add_row))
        return;
    for (std::int64_t k = 0; k < steps; ++k) {
        if (for_each_whole_row(tensor, walk, k, add_row)) continue;
        for_each_line(tensor, walk, k, [&](const LineRequest& request) {
            counted[map.lane(request.line)] += __builtin_popcount(request.sectors);
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
