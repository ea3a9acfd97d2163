// SPDX-License-Identifier: Apache-2.0
// CUTLASS's grouped scheduler (sm90_tile_scheduler_group.hpp): several GEMMs in one launch, their grids one
// after another.
#pragma once

#include <span>
#include <vector>

#include "order/cutlass3.hpp"

namespace l2lens {

struct GroupTile {
    Index group = 0;
    TileCoord tile;  // kNoTile in the padding
};

// Launch id -> group and tile. Each group is padded to its own swizzle. With `host_shapes` the launch ends
// where the host counted it to end, and the host rounds to clusters only, not to the swizzle: the last tiles
// are never reached (NVIDIA/cutlass #3497). Without them all ids are visited.
std::vector<GroupTile> grouped_gemm_order(std::span<const GridShape> groups, Index max_swizzle, Raster raster,
                                          bool host_shapes, const OrderContext& context = {});

}  // namespace l2lens
