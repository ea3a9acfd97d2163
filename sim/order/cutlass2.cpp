// SPDX-License-Identifier: Apache-2.0
// CUTLASS 2.x, threadblock_swizzle.h: the grid itself is reshaped, blockIdx.x fastest, and a CTA beyond the
// last column exits. A swizzle of 2^s is a strip of 2^s columns, all rows high; not a square of 2^s x 2^s
// tiles.
#include "order/families.hpp"

namespace l2lens {
namespace {

// The widest strip that N asks for and that is not mostly padding.
int adaptive_log(Index n, Index columns) {
    if (n >= 8 && columns >= 6) return 3;
    if (n >= 4 && columns >= 3) return 2;
    if (n >= 2 && columns >= 2) return 1;
    return 0;
}

// The widest strip that divides the columns.
int dividing_log(Index n, Index columns) {
    for (int s = 3; s > 0; --s)
        if ((Index{1} << s) <= n && columns % (Index{1} << s) == 0) return s;
    return 0;
}

TileSequence strips(int s, GridShape grid) {
    const Index width = Index{1} << s;
    const Index grid_x = grid.rows * width;
    return map_ids(grid_x * ceil_div<Index>(grid.columns, width), [=](Index id) {
        const Index x = id % grid_x;
        const Index y = id / grid_x;
        return tile_or_none(x >> s, (y << s) + x % width, grid);
    });
}

}  // namespace

TileSequence cutlass2_identity(const OrderArgs& args, GridShape grid, const OrderContext&) {
    return strips(adaptive_log(args[0], grid.columns), grid);
}

TileSequence cutlass2_no_padding(const OrderArgs& args, GridShape grid, const OrderContext&) {
    return strips(dividing_log(args[0], grid.columns), grid);
}

// The overload get_tile_offset(GemmCoord) divides by N itself, not by the adaptive 2^s the grid was shaped
// with, and gives up where a side is less than N: tiles are lost or doubled wherever the two differ and s >
// 0.
TileSequence cutlass2_identity_coord(const OrderArgs& args, GridShape grid, const OrderContext&) {
    const Index n = args[0];
    const Index width = Index{1} << adaptive_log(n, grid.columns);
    const Index grid_x = grid.rows * width;
    const bool plain = grid.rows < n || grid.columns < n;
    return map_ids(grid_x * ceil_div<Index>(grid.columns, width), [=](Index id) {
        const Index x = id % grid_x;
        const Index y = id / grid_x;
        return plain ? tile_or_none(x, y, grid) : tile_or_none(x / n, y * n + x % n, grid);
    });
}

// Stream-K's raster: cohorts of 8 x 4 tiles, row-major inside and among themselves, padded at the edges.
TileSequence cutlass2_cohort(const OrderArgs&, GridShape grid, const OrderContext&) {
    constexpr Index kRows = 8;
    constexpr Index kColumns = 4;
    const Index across = ceil_div<Index>(grid.columns, kColumns);
    return map_ids(across * ceil_div<Index>(grid.rows, kRows) * kRows * kColumns, [=](Index id) {
        const Index cohort = id / (kRows * kColumns);
        const Index inside = id % (kRows * kColumns);
        return tile_or_none(cohort / across * kRows + inside / kColumns,
                            cohort % across * kColumns + inside % kColumns, grid);
    });
}

}  // namespace l2lens
