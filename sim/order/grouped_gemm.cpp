// SPDX-License-Identifier: Apache-2.0
#include "order/grouped_gemm.hpp"

namespace l2lens {
namespace {

Index host_count(std::span<const GridShape> groups, const OrderContext& context) {
    Index count = 0;
    for (const GridShape& grid : groups)
        count += round_up(grid.rows, context.cluster_rows) * round_up(grid.columns, context.cluster_columns);
    return count;
}

// One group as an order of its own.
TileSequence one_group(const OrderArgs& args, GridShape grid, const OrderContext& context, bool host_shapes) {
    const Raster raster = args[1] == 0 ? Raster::AlongM : Raster::AlongN;
    TileSequence sequence;
    for (const GroupTile& item :
         grouped_gemm_order(std::span(&grid, 1), args[0], raster, host_shapes, context))
        sequence.push_back(item.tile);
    return sequence;
}

}  // namespace

std::vector<GroupTile> grouped_gemm_order(std::span<const GridShape> groups, Index max_swizzle, Raster raster,
                                          bool host_shapes, const OrderContext& context) {
    std::vector<GroupTile> launch;
    for (std::size_t g = 0; g < groups.size(); ++g) {
        const GridShape grid = groups[g];
        const int log_swizzle = sm90_log_swizzle(grid.rows, grid.columns, max_swizzle);
        const Sm90Raster shape = sm90_raster(raster, log_swizzle, grid.rows, grid.columns, context);
        check_launched(std::ssize(launch) + shape.launched());
        for (Index id = 0; id < shape.launched(); ++id) {
            const TileCoord tile = shape.tile_of(id);
            launch.push_back({static_cast<Index>(g), tile_or_none(tile.row, tile.column, grid)});
        }
    }
    if (host_shapes) launch.resize(static_cast<std::size_t>(host_count(groups, context)));
    return launch;
}

TileSequence cutlass3_grouped(const OrderArgs& args, GridShape grid, const OrderContext& context) {
    return one_group(args, grid, context, false);
}

TileSequence cutlass3_grouped_host(const OrderArgs& args, GridShape grid, const OrderContext& context) {
    return one_group(args, grid, context, true);
}

}  // namespace l2lens
