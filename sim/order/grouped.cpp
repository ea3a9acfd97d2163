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

// Triton's tutorial as it circulates with n taken modulo the group that is left: the ragged last group begins
// at a column of its own. A bijection all the same.
TileSequence group_m_rotated(const OrderArgs& args, GridShape grid, const OrderContext&) {
    const Index size = args[0];
    return map_ids(grid.tiles(), [=](Index id) {
        const Index first = id / (size * grid.columns) * size;
        const Index height = std::min<Index>(grid.rows - first, size);
        return tile_at(first + id % height, id % (height * grid.columns) / height);
    });
}

// The older form of Triton's tutorial: m by the launch id itself, n by the place in the group. The rows of a
// ragged last group are rotated against group_m; a bijection too.
TileSequence group_m_tutorial(const OrderArgs& args, GridShape grid, const OrderContext&) {
    const Index size = args[0];
    const Index per_group = size * grid.columns;
    return map_ids(grid.tiles(), [=](Index id) {
        const Index first = id / per_group * size;
        const Index height = std::min<Index>(grid.rows - first, size);
        return tile_at(first + id % height, id % per_group / height);
    });
}

// Gluon names the minor dimension by number: strips of W along it, walked forth and back.
TileSequence planar_snake(const OrderArgs& args, GridShape grid, const OrderContext&) {
    const bool along_rows = args[0] == 0;
    if (along_rows) return grouped_rows(args[1], grid, true);
    return transposed(grouped_rows(args[1], transposed(grid), true));
}

}  // namespace l2lens
