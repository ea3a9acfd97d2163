// SPDX-License-Identifier: Apache-2.0
// Orders of other libraries, the die remaps, and which plain order each of them is.
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "support/catch.hpp"
#include "support/order.hpp"

using namespace l2lens;
using l2lens::test::for_each_grid;
using l2lens::test::is_bijection;

namespace {

OrderContext with_xcds(int xcds) {
    OrderContext context;
    context.xcds = xcds;
    return context;
}

// A remap alone stands before row_major; on one row of tiles the columns are the remapped ids.
std::vector<std::int64_t> ids(const std::string& name, std::int32_t total, int xcds) {
    std::vector<std::int64_t> columns;
    for (const TileCoord& tile : make_order(name, {1, total}, with_xcds(xcds)))
        columns.push_back(std::int64_t{tile.row} * total + tile.column);
    return columns;
}

bool covers(const std::string& name, std::int32_t total, int xcds) {
    return is_bijection(make_order(name, {1, total}, with_xcds(xcds)), {1, total});
}

}  // namespace

TEST_CASE("The libraries' orders are bijections on all grids", "[order]") {
    const std::vector<std::string> names{"peano",
                                         "group_m_rotated:1",
                                         "group_m_rotated:5",
                                         "group_m_rotated:8",
                                         "group_m_tutorial:3",
                                         "group_m_tutorial:8",
                                         "deepgemm",
                                         "deepgemm:16",
                                         "deepgemm:8:on_a",
                                         "deepgemm:3:on_b",
                                         "thunderkittens",
                                         "thunderkittens:4",
                                         "planar_snake:0:3",
                                         "planar_snake:1:8",
                                         "ck_spatial:8:4",
                                         "ck_spatial:3:5",
                                         "ck_spatial:1:1",
                                         "tensile:8",
                                         "deepgemm_auto:128x256:on_b",
                                         "thunderkittens_snake:4"};
    OrderContext pair;
    pair.cluster_columns = 2;
    for (const std::string& name : names)
        for_each_grid(24, [&](GridShape grid) {
            for (const OrderContext& context : {OrderContext{}, pair})
                if (!is_bijection(make_order(name, grid, context), grid))
                    FAIL_CHECK(name << " on " << grid.rows << " x " << grid.columns);
        });
    SUCCEED("all grids visited");
}

TEST_CASE("strided is a bijection exactly where stride and tiles share no factor", "[order]") {
    for (const std::int32_t stride : {1, 2, 3, 6, 7, 1009})
        for_each_grid(24, [&](GridShape grid) {
            const bool expected = std::gcd(std::int64_t{stride}, grid.tiles()) == 1;
            if (is_bijection(make_order("strided:" + std::to_string(stride), grid), grid) != expected)
                FAIL_CHECK(stride << " on " << grid.rows << " x " << grid.columns);
        });
    SUCCEED("all grids visited");
}

TEST_CASE("fast.cu's super-tiles cover what they divide and refuse the rest", "[order]") {
    for_each_grid(24, [&](GridShape grid) {
        if (grid.rows % 4 == 0 && grid.columns % 3 == 0)
            CHECK(is_bijection(make_order("fast_cu:4x3", grid), grid));
        else
            CHECK_THROWS_WITH(make_order("fast_cu:4x3", grid), ContainsSubstring("do not divide"));
    });
    CHECK_THROWS_AS(make_order("fast_cu:16", {16, 16}), BadInput);
    CHECK_THROWS_AS(make_order("fast_cu:0x8", {16, 16}), BadInput);
    CHECK_THROWS_AS(make_order("fast_cu:4x4x4", {16, 16}), BadInput);
}

// The group sizes DeepGEMM picks on a GPU of 132 SMs.
TEST_CASE("DeepGEMM groups 8 or 16, whichever reads less in a wave", "[order]") {
    CHECK(deepgemm_group_size(128, 128, 132, false) == 8);
    CHECK(deepgemm_group_size(128, 256, 132, false) == 16);
    CHECK(deepgemm_group_size(256, 128, 132, true) == 16);
    CHECK(make_order("deepgemm_auto:128x256", {64, 64}) == make_order("deepgemm:16", {64, 64}));
    CHECK(make_order("deepgemm_auto:128x128:on_a", {64, 64}) == make_order("group_n:8", {64, 64}));
}

TEST_CASE("Peano's steps are all to neighbours on powers of three", "[order]") {
    for (const std::int32_t side : {3, 9, 27}) {
        const TileSequence sequence = make_order("peano", {side, side});
        CHECK(is_bijection(sequence, {side, side}));
        CHECK(wave_footprint(sequence, 1).jumps == 0);
    }
}

TEST_CASE("The die remaps on ten ids and four dies", "[order]") {
    CHECK(ids("xcd_tall", 10, 4) == std::vector<std::int64_t>{0, 3, 6, 8, 1, 4, 7, 9, 2, 5});
    CHECK(ids("xcd_prefix", 10, 4) == ids("xcd_tall", 10, 4));
    CHECK(ids("xcd_chunked:2", 22, 4) == std::vector<std::int64_t>{0,  2,  4,  6,  1,  3,  5,  7,
                                                                   8,  10, 12, 14, 9,  11, 13, 15,
                                                                   16, 17, 18, 19, 20, 21});
    const OrderCheck ceil = check_order(make_order("xcd_ceil", {1, 10}, with_xcds(4)), {1, 10});
    CHECK(ceil.lost == std::vector<TileCoord>{{0, 8}});
    CHECK(ceil.out_of_range_count == 1);
    CHECK(ceil.out_of_range[0].tile == TileCoord{1, 0});  // id 10, the first beyond the row
    const OrderCheck floor = check_order(make_order("xcd_floor", {1, 10}, with_xcds(4)), {1, 10});
    CHECK(floor.doubled == std::vector<TileCoord>{{0, 2}, {0, 4}});
}

TEST_CASE("xcd_ceil and xcd_floor cover exactly the totals their rules say, the other remaps all",
          "[order]") {
    int floor_fails = 0;
    for (int X = 1; X <= 12; ++X)
        for (std::int32_t T = 1; T < 400; ++T) {
            const bool ceil = T <= X || T % X == 0 || T % X == X - 1;
            const bool floor = T % X == 0 || T == 1;  // one id stays where it is
            if (covers("xcd_ceil", T, X) != ceil) FAIL_CHECK("ceil T " << T << " X " << X);
            if (covers("xcd_floor", T, X) != floor) FAIL_CHECK("floor T " << T << " X " << X);
            floor_fails += T < 300 && X <= 8 && X % 2 == 0 && !covers("xcd_floor", T, X);
            for (const char* name :
                 {"xcd_tall", "xcd_prefix", "xcd_chunked:1", "xcd_chunked:3", "xcd_chunked:64"})
                if (!covers(name, T, X)) FAIL_CHECK(name << " T " << T << " X " << X);
            if (ids("xcd_tall", T, X) != ids("xcd_prefix", T, X)) FAIL_CHECK("prefix T " << T << " X " << X);
        }
    CHECK(floor_fails == 883);  // of 1196: T below 300 on 2, 4, 6 and 8 dies
}

TEST_CASE("A remap feeds the order right of it", "[order]") {
    const GridShape grid{16, 16};
    const TileSequence plane = make_order("group_m:4", grid);
    const TileSequence chained = make_order("xcd_tall+group_m:4", grid);
    const TileSequence remap = make_order("xcd_tall", grid);
    for (std::size_t id = 0; id < chained.size(); ++id) {
        const auto place = static_cast<std::size_t>(remap[id].row * 16 + remap[id].column);
        REQUIRE(chained[id] == plane[place]);
    }
    CHECK(is_bijection(make_order("xcd_chunked:5+xcd_tall+gilbert", {7, 9}), {7, 9}));
    CHECK_THROWS_WITH(make_order("group_m:4+row_major", grid), ContainsSubstring("may stand before a '+'"));
    CHECK_THROWS_WITH(make_order("xcd_tall+", grid), ContainsSubstring("unknown order ''"));
    CHECK_THROWS_WITH(make_order("xcd_chunked+row_major", grid), ContainsSubstring("a parameter is missing"));
}

TEST_CASE("Contiguous ids of a die: after xcd_tall each die walks one stretch of the order", "[order]") {
    const std::vector<std::int64_t> places = ids("xcd_tall", 100, 8);
    for (std::size_t id = 8; id < places.size(); ++id) CHECK(places[id] == places[id - 8] + 1);
}

TEST_CASE("The linter names the plain order that a library's order equals", "[order]") {
    const auto equal = [](const std::string& name, GridShape grid) {
        return equal_plain_order(make_order(name, grid), grid);
    };
    const GridShape square{64, 64};
    CHECK(equal("thunderkittens", square) == "group_m:12");
    CHECK(equal("thunderkittens_snake:8", square) == "serpentine_n:8");
    CHECK(equal("planar_snake:0:4", square) == "serpentine_m:4");
    CHECK(equal("cutlass3:8:along_n", square) == "group_m:8");
    CHECK(equal("cutlass3:8:along_n", {16, 9}) == "group_m:8");  // no-ops aside
    CHECK(equal("cutlass2_identity:8", {10, 6}) == "row_major");
    CHECK(equal("group_m:100", square) == "column_major");
    CHECK(equal("group_m:1", square) == "row_major");
    CHECK(equal("group_n:64", square) == "row_major");
    CHECK(equal("serpentine_m", square) == "serpentine_m");
    CHECK(equal("xcd_chunked:1024+row_major", square) ==
          "row_major");  // the chunks are larger than the launch
    CHECK(equal("xcd_chunked:8+row_major", square).empty());
    CHECK(equal("diagonal", square).empty());
    CHECK(equal("hilbert", square) == "hilbert");
    CHECK(equal("xcd_ceil+row_major", {3, 3}).empty());
    CHECK(equal_plain_order(TileSequence{{0, 0}}, {1, 2}).empty());
}

TEST_CASE("Outer axes run slowest, or fastest when the name says so", "[order]") {
    const GridShape grid{1, 2};
    const std::vector<OuterTile> slow{{{0, 0}, 0}, {{0, 1}, 0}, {{0, 0}, 1},
                                      {{0, 1}, 1}, {{0, 0}, 2}, {{0, 1}, 2}};
    const std::vector<OuterTile> fast{{{0, 0}, 0}, {{0, 0}, 1}, {{0, 0}, 2},
                                      {{0, 1}, 0}, {{0, 1}, 1}, {{0, 1}, 2}};
    CHECK(make_outer_order("row_major", grid, 3) == slow);
    CHECK(make_outer_order("outer_fastest:row_major", grid, 3) == fast);
    CHECK(make_order("outer_fastest:group_m:8", {9, 9}) == make_order("group_m:8", {9, 9}));
    CHECK_THROWS_AS(make_outer_order("row_major", grid, 0), BadInput);
    CHECK_THROWS_AS(make_outer_order("row_major", grid, std::int64_t{1} << 62), BadInput);
    CHECK_THROWS_AS(make_order("outer_fastest:", grid), BadInput);
}

TEST_CASE("Padding that would not fit is refused, not attempted", "[order]") {
    CHECK_THROWS_WITH(make_order("cute_dsl:1048576:along_n", {1, 1 << 20}),
                      ContainsSubstring("with its padding"));
}
