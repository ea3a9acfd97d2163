// SPDX-License-Identifier: Apache-2.0
// The formulas behind the catalogue, a file per family. Every one takes its parsed parameters, a grid of at
// least one tile and the context, and returns launch id -> tile.
#pragma once

#include <algorithm>

#include "base/units.hpp"
#include "order/order.hpp"
#include "order/params.hpp"

namespace l2lens {

using BuildOrder = TileSequence (*)(const OrderArgs& args, GridShape grid, const OrderContext& context);
using RemapId = Index (*)(Index id, Index launched, const OrderArgs& args, const OrderContext& context);

// Most CTAs of one launch that a sequence is built for (8 bytes each); CUDA's own limit on gridDim.x is 2^31
// - 1.
inline constexpr Index kMostLaunched = Index{1} << 27;

inline TileCoord tile_at(Index row, Index column) {
    return {static_cast<std::int32_t>(row), static_cast<std::int32_t>(column)};
}
inline TileCoord transposed(TileCoord tile) {
    return {tile.column, tile.row};
}
inline GridShape transposed(GridShape grid) {
    return {grid.columns, grid.rows};
}
inline TileSequence transposed(TileSequence sequence) {
    for (TileCoord& tile : sequence) tile = transposed(tile);
    return sequence;
}
// The tile, or a no-op where padding reaches beyond the grid.
inline TileCoord tile_or_none(Index row, Index column, GridShape grid) {
    return row < grid.rows && column < grid.columns ? tile_at(row, column) : kNoTile;
}
constexpr Index round_up(Index value, Index multiple) {
    return ceil_div(value, multiple) * multiple;
}

// Throws BadInput when padding drives a launch beyond kMostLaunched.
void check_launched(Index launched);

// {f(0), f(1), ..., f(launched - 1)}.
template <class TileOfId>
TileSequence map_ids(Index launched, TileOfId tile_of_id) {
    check_launched(launched);
    TileSequence sequence;
    sequence.reserve(static_cast<std::size_t>(launched));
    for (Index id = 0; id < launched; ++id) sequence.push_back(tile_of_id(id));
    return sequence;
}

// plain.cpp
TileSequence row_major(const OrderArgs&, GridShape, const OrderContext&);
TileSequence column_major(const OrderArgs&, GridShape, const OrderContext&);
TileSequence strided(const OrderArgs&, GridShape, const OrderContext&);
TileSequence diagonal(const OrderArgs&, GridShape, const OrderContext&);
TileSequence anti_diagonal(const OrderArgs&, GridShape, const OrderContext&);
TileSequence shuffled(const OrderArgs&, GridShape, const OrderContext&);

// grouped.cpp
TileSequence group_m(const OrderArgs&, GridShape, const OrderContext&);
TileSequence group_n(const OrderArgs&, GridShape, const OrderContext&);
TileSequence serpentine_m(const OrderArgs&, GridShape, const OrderContext&);
TileSequence serpentine_n(const OrderArgs&, GridShape, const OrderContext&);
TileSequence group_m_rotated(const OrderArgs&, GridShape, const OrderContext&);
TileSequence group_m_tutorial(const OrderArgs&, GridShape, const OrderContext&);
TileSequence planar_snake(const OrderArgs&, GridShape, const OrderContext&);

// curves.cpp
TileSequence hilbert(const OrderArgs&, GridShape, const OrderContext&);
TileSequence gilbert(const OrderArgs&, GridShape, const OrderContext&);
TileSequence morton(const OrderArgs&, GridShape, const OrderContext&);
TileSequence peano(const OrderArgs&, GridShape, const OrderContext&);

// cutlass2.cpp
TileSequence cutlass2_identity(const OrderArgs&, GridShape, const OrderContext&);
TileSequence cutlass2_identity_coord(const OrderArgs&, GridShape, const OrderContext&);
TileSequence cutlass2_no_padding(const OrderArgs&, GridShape, const OrderContext&);
TileSequence cutlass2_cohort(const OrderArgs&, GridShape, const OrderContext&);

// cutlass3.cpp
TileSequence cutlass3(const OrderArgs&, GridShape, const OrderContext&);
TileSequence cute_dsl(const OrderArgs&, GridShape, const OrderContext&);
TileSequence sm100(const OrderArgs&, GridShape, const OrderContext&);

// grouped_gemm.cpp
TileSequence cutlass3_grouped(const OrderArgs&, GridShape, const OrderContext&);
TileSequence cutlass3_grouped_host(const OrderArgs&, GridShape, const OrderContext&);

// libraries.cpp
TileSequence deepgemm(const OrderArgs&, GridShape, const OrderContext&);
TileSequence deepgemm_auto(const OrderArgs&, GridShape, const OrderContext&);
TileSequence fast_cu(const OrderArgs&, GridShape, const OrderContext&);
TileSequence ck_spatial(const OrderArgs&, GridShape, const OrderContext&);

// sharing.cpp
TileSequence sharing(const OrderArgs&, GridShape, const OrderContext&);

// xcd.cpp
Index xcd_ceil(Index id, Index launched, const OrderArgs&, const OrderContext&);
Index xcd_floor(Index id, Index launched, const OrderArgs&, const OrderContext&);
Index xcd_tall(Index id, Index launched, const OrderArgs&, const OrderContext&);
Index xcd_prefix(Index id, Index launched, const OrderArgs&, const OrderContext&);
Index xcd_chunked(Index id, Index launched, const OrderArgs&, const OrderContext&);

}  // namespace l2lens
