// SPDX-License-Identifier: Apache-2.0
// CUTLASS's orders: padding and what it costs, the swizzle that adapts, and the two overloads and schedulers
// that lose tiles. Counts come from brute force over the cited formulas in an independent script.
#include <string>
#include <utility>
#include <vector>

#include "order/grouped_gemm.hpp"
#include "support/catch.hpp"
#include "support/order.hpp"

using namespace l2lens;
using l2lens::test::for_each_grid;
using l2lens::test::is_bijection;

namespace {

OrderContext cluster(int rows, int columns) {
    OrderContext context;
    context.cluster_rows = rows;
    context.cluster_columns = columns;
    return context;
}

// The strip width in use: two rows of tiles, and the second begins where the first strip ends.
std::size_t strip_width(const std::string& name, std::int32_t columns) {
    const TileSequence sequence = make_order(name, {2, columns});
    std::size_t id = 0;
    while (sequence[id].row != 1) ++id;
    return id;
}

std::int64_t dropped(const std::vector<GridShape>& groups, Index swizzle, Raster raster, bool host_shapes) {
    std::vector<TileSequence> visited(groups.size());
    for (const GroupTile& item : grouped_gemm_order(groups, swizzle, raster, host_shapes))
        visited[static_cast<std::size_t>(item.group)].push_back(item.tile);
    std::int64_t lost = 0;
    for (std::size_t g = 0; g < groups.size(); ++g) lost += check_order(visited[g], groups[g]).lost_count;
    return lost;
}

}  // namespace

TEST_CASE("All CUTLASS orders but the two known bugs cover every grid", "[order]") {
    const std::vector<std::string> names{"cutlass2_identity:1",
                                         "cutlass2_identity:2",
                                         "cutlass2_identity:4",
                                         "cutlass2_identity:8",
                                         "cutlass2_no_padding:8",
                                         "cutlass2_no_padding:2",
                                         "cutlass2_split_k:4",
                                         "cutlass2_cohort",
                                         "cutlass2_horizontal",
                                         "cutlass2_batched",
                                         "cutlass3:1:along_m",
                                         "cutlass3:2:along_n",
                                         "cutlass3:4:heuristic",
                                         "cutlass3:8:along_m",
                                         "cutlass3:8:along_n",
                                         "cutlass3_grouped:8",
                                         "cutlass3_grouped:4:along_n",
                                         "cute_dsl:3:along_m",
                                         "cute_dsl:8:along_n",
                                         "sm100:1",
                                         "sm100:2",
                                         "sm100:3:along_n",
                                         "sm100:8:along_m",
                                         "sm100:5:along_n"};
    for (const auto& [rows, columns] :
         std::vector<std::pair<int, int>>{{1, 1}, {2, 1}, {1, 2}, {2, 2}, {4, 2}})
        for (const std::string& name : names)
            for_each_grid(24, [&, rows = rows, columns = columns](GridShape grid) {
                const TileSequence sequence = make_order(name, grid, cluster(rows, columns));
                if (!is_bijection(sequence, grid))
                    FAIL_CHECK(name << " on " << grid.rows << " x " << grid.columns << ", cluster " << rows
                                    << " x " << columns << ": " << check_order(sequence, grid).describe());
            });
    SUCCEED("all grids visited");
}

TEST_CASE("CUTLASS 2 adapts its strip to the columns; the rule that circulates in notes differs below 41",
          "[order]") {
    CHECK(strip_width("cutlass2_identity:8", 1) == 1);
    CHECK(strip_width("cutlass2_identity:8", 2) == 2);
    CHECK(strip_width("cutlass2_identity:8", 3) == 4);
    CHECK(strip_width("cutlass2_identity:8", 5) == 4);
    CHECK(strip_width("cutlass2_identity:8", 6) == 8);
    CHECK(strip_width("cutlass2_identity:4", 64) == 4);
    const auto noted = [](std::int32_t n) -> std::size_t {
        if (n >= 8 && (n + 7) / 8 >= 6) return 8;
        if (n >= 4 && (n + 3) / 4 >= 3) return 4;
        if (n >= 2 && (n + 1) / 2 >= 2) return 2;
        return 1;
    };
    for (std::int32_t n = 2; n <= 40; ++n) CHECK(strip_width("cutlass2_identity:8", n) != noted(n));
    CHECK(strip_width("cutlass2_identity:8", 41) == noted(41));
}

TEST_CASE("A strip wider than the columns left launches CTAs that only exit", "[order]") {
    const OrderCheck check = check_order(make_order("cutlass2_identity:8", {10, 6}), {10, 6});
    CHECK(check.launched == 80);
    CHECK(check.no_ops == 20);  // 1 - 6 / 8
}

TEST_CASE("The GemmCoord overload of CUTLASS 2 loses tiles exactly where it and the grid disagree",
          "[order]") {
    int fails = 0;
    for_each_grid(24, [&](GridShape grid) {
        for (const int n : {1, 2, 4, 8}) {
            const std::string suffix = ":" + std::to_string(n);
            if (is_bijection(make_order("cutlass2_identity_coord" + suffix, grid), grid)) continue;
            ++fails;
            const bool swizzled = strip_width("cutlass2_identity" + suffix, grid.columns) > 1;
            if (!swizzled || (grid.rows >= n && grid.columns >= n))
                FAIL_CHECK(grid.rows << " x " << grid.columns << " N " << n);
        }
    });
    CHECK(fails == 397);  // of 2304
}

TEST_CASE("SM90 charges no-op tiles a turn", "[order]") {
    struct Padded {
        GridShape grid;
        OrderContext context;
        std::int64_t launched;
    };
    const std::vector<Padded> cases{{{9, 9}, {}, 16 * 16},
                                    {{33, 33}, {}, 40 * 40},
                                    {{57, 57}, {}, 64 * 64},
                                    {{33, 33}, cluster(2, 1), 48 * 40}};
    for (const Padded& c : cases) {
        const OrderCheck check = check_order(make_order("cutlass3:8:heuristic", c.grid, c.context), c.grid);
        CHECK(check.launched == c.launched);
        CHECK(check.no_ops == c.launched - c.grid.tiles());
    }
}

TEST_CASE("The SM90 heuristic rasters along the shorter side", "[order]") {
    CHECK(make_order("cutlass3:8:heuristic", {128, 8}) == make_order("cutlass3:8:along_n", {128, 8}));
    CHECK(make_order("cutlass3:8:heuristic", {8, 128}) == make_order("cutlass3:8:along_m", {8, 128}));
    CHECK(make_order("cutlass3:8:heuristic", {64, 64}) == make_order("cutlass3:8:along_n", {64, 64}));
    // Along M a wave of 128 x 8 tiles reads all of A; along N a wave is 17 x 8. (Without a swizzle.)
    const WaveFootprint along_m = wave_footprint(make_order("cutlass3:1:along_m", {128, 8}), 132);
    const WaveFootprint along_n = wave_footprint(make_order("cutlass3:1:along_n", {128, 8}), 132);
    CHECK(along_m.mean_rows == 128.0);
    CHECK(along_m.mean_columns == 2.0);
    CHECK(along_n.mean_rows == Approx(17.0).margin(0.6));
    CHECK(along_n.mean_columns == 8.0);
}

TEST_CASE("Every CTA of an SM90 cluster has a neighbour's tile", "[order]") {
    const TileSequence sequence = make_order("cutlass3:4:along_m", {16, 16}, cluster(2, 2));
    for (std::size_t id = 0; id < sequence.size(); id += 4)
        for (std::size_t i = 0; i < 4; ++i) {
            CHECK(sequence[id + i].row / 2 == sequence[id].row / 2);
            CHECK(sequence[id + i].column / 2 == sequence[id].column / 2);
        }
}

// NVIDIA/cutlass #3497: the host counts tiles without the padding of the swizzle, so that the last ids never
// run.
TEST_CASE("The grouped scheduler with shapes on the host drops tiles", "[order]") {
    struct Launch {
        std::vector<GridShape> groups;
        Index swizzle;
        std::int64_t dropped;
    };
    const std::vector<Launch> launches{{{{2, 2}, {3, 3}}, 4, 2},
                                       {{{6, 6}}, 8, 8},
                                       {{{5, 7}}, 2, 5},
                                       {std::vector<GridShape>(4, {9, 9}), 8, 175},
                                       {std::vector<GridShape>(8, {3, 16}), 4, 96},
                                       {std::vector<GridShape>(2, {8, 8}), 8, 0},
                                       {std::vector<GridShape>(8, {1, 16}), 8, 0}};
    for (const Launch& launch : launches) {
        INFO("first group " << launch.groups[0].rows << " x " << launch.groups[0].columns);
        for (const Raster raster : {Raster::AlongM, Raster::AlongN}) {
            CHECK(dropped(launch.groups, launch.swizzle, raster, true) == launch.dropped);
            CHECK(dropped(launch.groups, launch.swizzle, raster, false) == 0);
        }
    }
    CHECK(check_order(make_order("cutlass3_grouped_host:8", {6, 6}), {6, 6}).lost_count == 8);
    CHECK(is_bijection(make_order("cutlass3_grouped_host:1", {6, 6}), {6, 6}));
}
