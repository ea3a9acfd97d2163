// SPDX-License-Identifier: Apache-2.0
// "Your order is row_major": a remap whose result is dropped, or a group as tall as the grid, is a bijection
// and yet does nothing.
#include <algorithm>
#include <iterator>
#include <vector>

#include "order/order.hpp"

namespace l2lens {
namespace {

// How far the sequence begins (0,0) (1,0) (2,0) ..., or with the axes exchanged.
std::size_t leading_run(const TileSequence& sequence, bool down) {
    std::size_t run = 0;
    while (run < sequence.size()) {
        const auto place = static_cast<std::int32_t>(run);
        if (sequence[run] != (down ? TileCoord{place, 0} : TileCoord{0, place})) break;
        ++run;
    }
    return run;
}

}  // namespace

std::string equal_plain_order(std::span<const TileCoord> sequence, GridShape grid) {
    TileSequence real;
    std::copy_if(sequence.begin(), sequence.end(), std::back_inserter(real),
                 [](TileCoord tile) { return tile != kNoTile; });
    if (static_cast<std::int64_t>(real.size()) != grid.tiles()) return "";
    // A group's size can be read off the first tiles, so no other group order can be equal.
    std::vector<std::string> names{"row_major", "column_major", "serpentine_m", "serpentine_n"};
    for (const bool down : {true, false}) {
        const std::size_t size = leading_run(real, down);
        if (size < 2 || size >= static_cast<std::size_t>(down ? grid.rows : grid.columns)) continue;
        for (const char* family : {"group_", "serpentine_"})
            names.push_back(family + std::string(down ? "m:" : "n:") + std::to_string(size));
    }
    names.insert(names.end(), {"hilbert", "gilbert", "morton"});
    for (const std::string& name : names)
        if (make_order(name, grid) == real) return name;
    return "";
}

}  // namespace l2lens
