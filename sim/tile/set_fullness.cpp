// SPDX-License-Identifier: Apache-2.0
#include "tile/set_fullness.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

namespace l2lens {
namespace {

// Load walks of the tiles in the first `side` rows and columns, each once.
std::vector<std::int32_t> walks_of_block(const Work& work, std::int64_t rows, std::int64_t columns) {
    const Kernel& kernel = work.kernel();
    std::vector<char> seen(work.walks(), 0);
    std::vector<std::int32_t> walks;
    for (std::int64_t row = 0; row < std::min(rows, kernel.tile_rows()); ++row) {
        for (std::int64_t column = 0; column < std::min(columns, kernel.tile_columns()); ++column) {
            const auto tile = static_cast<std::int32_t>(row * kernel.tile_columns() + column);
            for (const Work::Phase& phase : work.program(tile)) {
                for (const std::int32_t walk : work.loads(phase)) {
                    if (std::exchange(seen[static_cast<std::size_t>(walk)], 1) == 0) walks.push_back(walk);
                }
            }
        }
    }
    return walks;
}

double lines_of(const Work& work, const std::vector<std::int32_t>& walks) {
    double bytes = 0;
    for (const std::int32_t walk : walks) bytes += work.walk_bytes(walk);
    return bytes / kLineBytes;
}

// Adds the lines of a walk's first steps to those of the sets.
void add_steps(const Work& work, const AddressMap& map, std::int32_t id, std::int64_t steps,
               std::vector<std::uint32_t>& lines) {
    const BoxWalk& walk = work.walk(id);
    const Tensor& tensor = work.kernel().tensors[static_cast<std::size_t>(walk.tensor)];
    const auto add_rows = [&](LineNumber first, std::uint32_t run) {
        map.for_each_set(first, run, [&](int lane, std::uint32_t set) {
            ++lines[static_cast<std::size_t>(lane) * map.sets() + set];
        });
    };
    const auto all = joined_steps(tensor, walk, 0, steps);
    if (all && for_each_whole_row(tensor, *all, 0, add_rows)) return;
    for (std::int64_t k = 0; k < steps; ++k) {
        if (for_each_whole_row(tensor, walk, k, add_rows)) continue;
        for_each_line(tensor, walk, k, [&](const LineRequest& request) { add_rows(request.line, 1); });
    }
}

}  // namespace

std::array<double, kSetClasses> set_fullness(const Machine& machine, const Work& work,
                                             const AddressMap& map) {
    std::array<double, kSetClasses> fullness;
    fullness.fill(1);
    const double capacity = static_cast<double>(machine.partition_bytes()) / kLineBytes;
    std::int64_t side = 1;
    while (static_cast<std::size_t>(side * side) < machine.sms.size()) ++side;
    std::vector<std::int32_t> walks = walks_of_block(work, side, side);
    while (lines_of(work, walks) < capacity) {
        side *= 2;
        std::vector<std::int32_t> more = walks_of_block(work, side, side);
        if (more.size() == walks.size()) return fullness;  // all of it fits
        walks.swap(more);
    }
    const double steps = capacity / lines_of(work, walks);  // of each walk's, from the first on

    // A partition holds home lines and copies alike, so every line counts.
    std::vector<std::uint32_t> lines(static_cast<std::size_t>(map.lanes()) * map.sets(), 0);
    for (const std::int32_t id : walks) {
        const auto count =
            static_cast<std::int64_t>(std::ceil(steps * static_cast<double>(work.walk_steps(id))));
        add_steps(work, map, id, count, lines);
    }
    const std::uint64_t total = std::accumulate(lines.begin(), lines.end(), std::uint64_t{0});
    const double mean = static_cast<double>(total) / static_cast<double>(lines.size());
    auto begin = lines.begin();
    for (std::size_t c = 0; c < kSetClasses; ++c) {
        const auto end = lines.begin() + static_cast<std::ptrdiff_t>((c + 1) * lines.size() / kSetClasses);
        std::nth_element(begin, end, lines.end(), std::greater<>());  // the fullest that are left come first
        fullness[c] = std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin) / mean;
        begin = end;
    }
    return fullness;
}

}  // namespace l2lens
