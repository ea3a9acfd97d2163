// SPDX-License-Identifier: Apache-2.0
// The orders of GEMM libraries that bring a formula of their own: DeepGEMM, fast.cu, Composable Kernel.
#include "base/error.hpp"
#include "order/families.hpp"

namespace l2lens {

// Groups of G along the axis that is not shared by multicast; G minimises what a wave reads, ties go to 8.
std::int64_t deepgemm_group_size(std::int64_t block_m, std::int64_t block_n, int sms, bool multicast_a) {
    const auto wave_edge = [&](Index group) {
        const Index others = ceil_div<Index>(sms, group);
        return multicast_a ? group * block_n + others * block_m : group * block_m + others * block_n;
    };
    return wave_edge(16) < wave_edge(8) ? 16 : 8;
}

namespace {

// `pairs`: a group of odd width runs its even part first and its last row alone, so that the two CTAs of a
// cluster that shares loads on SM90 always have a partner.
TileSequence deepgemm_groups(Index group_size, GridShape grid, bool multicast_a, bool pairs) {
    const Index primary = multicast_a ? grid.columns : grid.rows;
    const Index secondary = multicast_a ? grid.rows : grid.columns;
    const Index per_group = secondary * group_size;
    return map_ids(grid.tiles(), [=](Index id) {
        Index first = id / per_group * group_size;
        Index inside = id % per_group;
        Index width = std::min(group_size, primary - first);
        if (pairs && width % 2 == 1) {
            const Index even = width - 1;
            if (inside < even * secondary) {
                width = even;
            } else {
                inside -= even * secondary;
                first += even;
                width = 1;
            }
        }
        const Index a = first + inside % width;
        const Index b = inside / width;
        return multicast_a ? tile_at(b, a) : tile_at(a, b);
    });
}

bool multicasts(const OrderContext& context) {
    return context.cluster_rows * context.cluster_columns > 1;
}

}  // namespace

// G left out: what the rule picks for square blocks.
TileSequence deepgemm(const OrderArgs& args, GridShape grid, const OrderContext& context) {
    const bool multicast_a = args[1] == 1;
    const Index group = args[0] == 0 ? deepgemm_group_size(1, 1, context.sms, multicast_a) : args[0];
    return deepgemm_groups(group, grid, multicast_a, multicasts(context));
}

TileSequence deepgemm_auto(const OrderArgs& args, GridShape grid, const OrderContext& context) {
    const bool multicast_a = args[2] == 1;
    const Index group = deepgemm_group_size(args[0], args[1], context.sms, multicast_a);
    return deepgemm_groups(group, grid, multicast_a, multicasts(context));
}

// Super-tiles in row-major order, row-major inside. The original asserts that they divide the grid; so is it
// here.
TileSequence fast_cu(const OrderArgs& args, GridShape grid, const OrderContext&) {
    const Index height = args[0];
    const Index width = args[1];
    if (grid.rows % height != 0 || grid.columns % width != 0)
        throw BadInput("order '" + args.text + "': super-tiles of " + std::to_string(height) + " x " +
                       std::to_string(width) + " do not divide a grid of " + std::to_string(grid.rows) +
                       " x " + std::to_string(grid.columns) + " tiles, which fast.cu asserts");
    const Index across = grid.columns / width;
    return map_ids(grid.tiles(), [=](Index id) {
        const Index super = id / (height * width);
        const Index inside = id % (height * width);
        return tile_at(super / across * height + inside / width, super % across * width + inside % width);
    });
}

// GemmSpatiallyLocalTilePartitioner<G, M01>: ids dealt to G dies in contiguous shares, then rows folded M01
// at a time.
TileSequence ck_spatial(const OrderArgs& args, GridShape grid, const OrderContext&) {
    const Index dies = args[0];
    const Index fold = args[1];
    const Index tiles = grid.tiles();
    return map_ids(tiles, [=](Index id) {
        if (grid.rows == 1) return tile_at(0, id);
        if (grid.columns == 1) return tile_at(id, 0);
        const Index die = id % dies;
        const Index share = ceil_div(tiles, dies);
        const Index big = dies - (share * dies - tiles);  // dies with a whole share; the others have one less
        const Index local = die * share - std::max<Index>(0, die - big) + id / dies;
        const Index row = local / grid.columns;
        const Index first = row / fold * fold;
        const Index height = std::min<Index>(fold, grid.rows - first);
        const Index inside = local % grid.columns + (row - first) * grid.columns;
        return tile_at(first + inside % height, inside / height);
    });
}

}  // namespace l2lens
