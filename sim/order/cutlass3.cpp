// SPDX-License-Identifier: Apache-2.0
// CUTLASS 3.x on SM90 (static_tile_scheduler.hpp, tile_scheduler_params.h), its CuTe DSL twin, and SM100's
// scheduler. The launch id is the scheduler's linear id: CTA w of a persistent launch takes w, w + grid, w +
// 2 grid, ...
#include "order/cutlass3.hpp"

namespace l2lens {

int sm90_log_swizzle(Index rows, Index columns, Index most) {
    const Index smaller = std::min(rows, columns);
    if (most >= 8 && smaller >= 6) return 3;
    if (most >= 4 && smaller >= 3) return 2;
    if (most >= 2 && smaller >= 2) return 1;
    return 0;
}

Sm90Raster sm90_raster(Raster raster, int log_swizzle, Index rows, Index columns,
                       const OrderContext& context) {
    Sm90Raster shape{raster, log_swizzle, 0, 0, context.cluster_rows, context.cluster_columns};
    shape.rows = round_up(rows, shape.cluster_rows << log_swizzle);
    shape.columns = round_up(columns, shape.cluster_columns << log_swizzle);
    return shape;
}

// Along the major axis in strips of 2^log_swizzle clusters of the minor one.
TileCoord Sm90Raster::tile_of(Index linear) const {
    const bool along_n = raster == Raster::AlongN;
    const Index minor_cluster = along_n ? cluster_rows : cluster_columns;
    const Index major_cluster = along_n ? cluster_columns : cluster_rows;
    const Index major_clusters = (along_n ? columns : rows) / major_cluster;
    const Index minor_in_cluster = linear % minor_cluster;
    const Index cluster = linear / minor_cluster / major_cluster;
    const Index major_in_cluster = linear / minor_cluster % major_cluster;
    const Index strip = cluster >> log_swizzle;
    const Index offset = cluster & ((Index{1} << log_swizzle) - 1);
    const Index minor = ((strip / major_clusters << log_swizzle) + offset) * minor_cluster + minor_in_cluster;
    const Index major = strip % major_clusters * major_cluster + major_in_cluster;
    return along_n ? tile_at(minor, major) : tile_at(major, minor);
}

// S is CUTLASS's max_swizzle_size. The heuristic rasters along the shorter padded side.
TileSequence cutlass3(const OrderArgs& args, GridShape grid, const OrderContext& context) {
    const Index rows = round_up(grid.rows, context.cluster_rows);
    const Index columns = round_up(grid.columns, context.cluster_columns);
    Sm90Raster shape =
        sm90_raster(Raster::AlongM, sm90_log_swizzle(rows, columns, args[0]), rows, columns, context);
    const bool heuristic = args[1] == 2;
    const bool along_m = heuristic ? shape.columns > shape.rows : args[1] == 0;
    shape.raster = along_m ? Raster::AlongM : Raster::AlongN;
    return map_ids(shape.launched(), [&](Index id) {
        const TileCoord tile = shape.tile_of(id);
        return tile_or_none(tile.row, tile.column, grid);
    });
}

// PersistentTileSchedulerParams of the CuTe DSL: any S, and only the minor side is padded to it.
TileSequence cute_dsl(const OrderArgs& args, GridShape grid, const OrderContext& context) {
    const Index swizzle = args[0];
    const bool along_m = args[1] == 0;
    const Index minor_cluster = along_m ? context.cluster_columns : context.cluster_rows;
    const Index major_cluster = along_m ? context.cluster_rows : context.cluster_columns;
    const Index minor_clusters =
        round_up(ceil_div<Index>(along_m ? grid.columns : grid.rows, minor_cluster), swizzle);
    const Index major_clusters = ceil_div<Index>(along_m ? grid.rows : grid.columns, major_cluster);
    const Index cluster_size = minor_cluster * major_cluster;
    return map_ids(minor_clusters * major_clusters * cluster_size, [=](Index id) {
        const Index cluster = id / cluster_size;
        const Index inside = id % cluster_size;
        const Index minor_id = cluster / (swizzle * major_clusters) * swizzle + cluster % swizzle;
        const Index major_id = cluster / swizzle % major_clusters;
        const Index minor = minor_id * minor_cluster + inside % minor_cluster;
        const Index major = major_id * major_cluster + inside / minor_cluster;
        return along_m ? tile_or_none(major, minor, grid) : tile_or_none(minor, major, grid);
    });
}

// SM100: the grid is all CTA tiles and the hardware hands out the next cluster (cluster launch control).
// Inside the part of the grid that S divides, x and y exchange digits; the rest stays. CUTLASS's comment
// draws a serpentine, its code does not walk one.
TileSequence sm100(const OrderArgs& args, GridShape grid, const OrderContext& context) {
    const Index swizzle = args[0];
    const bool along_m = args[1] == 0;
    const Index cluster_m = context.cluster_rows;
    const Index cluster_n = context.cluster_columns;
    const Index clusters_m = ceil_div<Index>(grid.rows, cluster_m);
    const Index clusters_n = ceil_div<Index>(grid.columns, cluster_n);
    const Index x_clusters = along_m ? clusters_m : clusters_n;
    const Index x_whole = x_clusters / swizzle;
    const Index y_whole = (along_m ? clusters_n : clusters_m) / swizzle;
    const Index cluster_size = cluster_m * cluster_n;
    return map_ids(clusters_m * clusters_n * cluster_size, [=](Index id) {
        const Index cluster = id / cluster_size;
        const Index inside = id % cluster_size;
        Index x = cluster % x_clusters;
        Index y = cluster / x_clusters;
        if (x < x_whole * swizzle && y < y_whole * swizzle) {
            const Index swizzled_x = x / swizzle + x_whole * (y % swizzle);
            y = x % swizzle + y / swizzle * swizzle;
            x = swizzled_x;
        }
        const Index row = (along_m ? x : y) * cluster_m + inside % cluster_m;
        const Index column = (along_m ? y : x) * cluster_n + inside / cluster_m;
        return tile_or_none(row, column, grid);
    });
}

}  // namespace l2lens
