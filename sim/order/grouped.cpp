// SPDX-License-Identifier: Apache-2.0
// Groups of tile rows walked together: a wave then covers a block of the output, not a strip. The field's
// usual cure, known by Triton's name for its parameter, GROUP_SIZE_M.
#include "order/families.hpp"

namespace l2lens {
namespace {

// Groups of `size` rows, m fastest inside, then n; the last group takes the rows that are left. With
// `serpentine`, odd groups walk n backwards, so that a group begins at the columns the one before has just
// used.
TileSequence grouped_rows(Index size, GridShape grid, bool serpentine) {
    const Index per_group = size * grid.columns;
    return map_ids(grid.tiles(), [=](Index id) {
        const Index group = id / per_group;
        const Index first = group * size;
        const Index height = std::min<Index>(grid.rows - first, size);
        const Index inside = id % per_group;
        const Index column = inside / height;
        const bool backwards = serpentine && group % 2 == 1;
        return tile_at(first + inside % height, backwards ? grid.columns - 1 - column : column);
    });
}

}  // namespace

TileSequence group_m(const OrderArgs& args, GridShape grid, const OrderContext&) {
    return grouped_rows(args[0], grid, false);
}

TileSequence group_n(const OrderArgs& args, GridShape grid, const OrderContext&) {
    return transposed(grouped_rows(args[0], transposed(grid), false));
}

TileSequence serpentine_m(const OrderArgs& args, GridShape grid, const OrderContext&) {
    return grouped_rows(args[0], grid, true);
}

TileSequence serpentine_n(const OrderArgs& args, GridShape grid, const OrderContext&) {
    return transposed(grouped_rows(args[0], transposed(grid), true));
}

}  // namespace l2lens
