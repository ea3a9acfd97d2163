// SPDX-License-Identifier: Apache-2.0
// Index maps as they circulate in notes, posts and kernels, wrong ones among them: the check must catch each
// on exactly the grids where it fails. The counts come from brute force over the same formulas in an
// independent script.
#include <algorithm>
#include <cstdint>
#include <set>
#include <utility>

#include "support/catch.hpp"
#include "support/order.hpp"

using namespace l2lens;
using l2lens::test::for_each_grid;
using l2lens::test::is_bijection;
using l2lens::test::sequence_of;
using Pair = std::pair<std::int64_t, std::int64_t>;

namespace {

// CUTLASS 2.x's strip swizzle: i = x >> s, j = (y << s) + (x & (2^s - 1)), launched over a grid with x
// fastest.
TileSequence strips(std::int64_t grid_x, std::int64_t grid_y, int s) {
    return sequence_of(grid_x * grid_y, [=](std::int64_t id) {
        const std::int64_t x = id % grid_x;
        const std::int64_t y = id / grid_x;
        return Pair{x >> s, (y << s) + (x & ((std::int64_t{1} << s) - 1))};
    });
}

}  // namespace

TEST_CASE("The strip swizzle on an unchanged grid fails nearly everywhere", "[order]") {
    int fails_mn = 0;
    int fails_nm = 0;
    for_each_grid(24, [&](GridShape grid) {
        for (int s = 1; s <= 3; ++s) {
            fails_mn += !is_bijection(strips(grid.rows, grid.columns, s), grid);
            fails_nm += !is_bijection(strips(grid.columns, grid.rows, s), grid);
        }
    });
    CHECK(fails_mn == 1725);  // of 1728
    CHECK(fails_nm == 1696);
    CHECK_FALSE(is_bijection(strips(1, 2, 1), {1, 2}));
}

TEST_CASE("The strip swizzle on its padded grid is whole once out-of-range CTAs exit", "[order]") {
    int fails = 0;
    int fails_without_exit = 0;
    for_each_grid(24, [&](GridShape grid) {
        for (int s = 1; s <= 3; ++s) {
            const std::int64_t width = std::int64_t{1} << s;
            TileSequence sequence = strips(grid.rows << s, (grid.columns + width - 1) / width, s);
            fails_without_exit += !is_bijection(sequence, grid);
            for (TileCoord& tile : sequence)
                if (tile.column >= grid.columns) tile = kNoTile;
            fails += !is_bijection(sequence, grid);
        }
    });
    CHECK(fails == 0);
    CHECK(fails_without_exit == 1224);  // of 1728: wherever columns % 2^s != 0
}

TEST_CASE("Triton's grouped order with n taken modulo the group is whole, but rotated in the last group",
          "[order]") {
    const auto rotated = [](GridShape grid, std::int64_t G) {
        return sequence_of(grid.tiles(), [=](std::int64_t id) {
            const std::int64_t group = id / (G * grid.columns);
            const std::int64_t first = group * G;
            const std::int64_t height = std::min<std::int64_t>(grid.rows - first, G);
            return Pair{first + id % height, id % (height * grid.columns) / height};
        });
    };
    int unlike_the_tutorial = 0;
    for_each_grid(24, [&](GridShape grid) {
        for (const std::int64_t G : {1, 2, 3, 4, 8}) {
            const TileSequence sequence = rotated(grid, G);
            unlike_the_tutorial += sequence != make_order("group_m_tutorial:" + std::to_string(G), grid);
            if (!is_bijection(sequence, grid)) FAIL_CHECK(grid.rows << " x " << grid.columns << " G " << G);
            const bool ragged = grid.rows % G != 0;
            if (!ragged && sequence != make_order("group_m:" + std::to_string(G), grid))
                FAIL_CHECK("not group_m on " << grid.rows << " x " << grid.columns << " G " << G);
        }
    });
    CHECK(unlike_the_tutorial == 368);  // of 2880
    CHECK(test::text_of(rotated({7, 3}, 4)) ==
          "00 10 20 30 01 11 21 31 02 12 22 32 41 51 61 42 52 62 40 50 60");
}

TEST_CASE("A group of fixed height, without the min, fails wherever the last group is ragged", "[order]") {
    int fails = 0;
    for_each_grid(24, [&](GridShape grid) {
        const std::int64_t G = 8;
        const TileSequence sequence = sequence_of(grid.tiles(), [&](std::int64_t id) {
            const std::int64_t inside = id % (G * grid.columns);
            return Pair{id / (G * grid.columns) * G + inside % G, inside / G};
        });
        const bool whole = is_bijection(sequence, grid);
        fails += !whole;
        // One column is a plain walk down, whatever the height of a group.
        if (whole != (grid.rows % G == 0 || grid.columns == 1))
            FAIL_CHECK(grid.rows << " x " << grid.columns);
    });
    CHECK(fails == 483);  // of 576: FlyDSL #979
}

TEST_CASE("The XCD remap with a rounded-up share fails unless T <= X or T mod X is 0 or X - 1", "[order]") {
    const auto remap = [](std::int64_t T, std::int64_t X) {
        return sequence_of(T, [=](std::int64_t p) { return Pair{0, p % X * ((T + X - 1) / X) + p / X}; });
    };
    for (std::int64_t X = 1; X <= 12; ++X)
        for (std::int32_t T = 1; T < 400; ++T) {
            const bool expected = T <= X || T % X == 0 || T % X == X - 1;
            if (is_bijection(remap(T, X), {1, T}) != expected) FAIL_CHECK("T " << T << " X " << X);
        }
    const OrderCheck check = check_order(remap(9, 8), {1, 9});
    CHECK(check.lost == std::vector<TileCoord>{{0, 3}, {0, 5}, {0, 7}});
    REQUIRE(check.out_of_range.size() == 3);
    std::set<int> strays;
    for (const auto& stray : check.out_of_range) strays.insert(stray.tile.column);
    CHECK(strays == std::set<int>{10, 12, 14});
    CHECK_FALSE(is_bijection(remap(10, 4), {1, 10}));
}

TEST_CASE("The chunk swizzle c' = floor(p / 2^s) 2^s + p mod 2^s is p itself", "[order]") {
    // Chunks x query tiles, as proposed for a linear-attention kernel: only one query tile a chunk survives
    // it.
    int fails = 0;
    for_each_grid(24, [&](GridShape grid) {
        for (int s = 0; s <= 3; ++s) {
            const std::int64_t width = std::int64_t{1} << s;
            const TileSequence sequence = sequence_of(grid.tiles(), [&](std::int64_t p) {
                return Pair{p / width * width + p % width, p % (width * grid.columns) / width};
            });
            const bool whole = is_bijection(sequence, grid);
            fails += !whole;
            if (whole != (grid.columns == 1)) FAIL_CHECK(grid.rows << " x " << grid.columns << " s " << s);
        }
    });
    CHECK(fails == 2208);  // of 2304
}

TEST_CASE("The same proposal's five-line kernel change is whole with a width of four", "[order]") {
    const auto snippet = [](std::int64_t pid, GridShape grid) {
        const std::int64_t group = pid / (4 * grid.columns);
        const std::int64_t size = std::min<std::int64_t>(grid.rows - group * 4, 4);
        return Pair{group * 4 + pid % size, pid % (size * grid.columns) / size};
    };
    for_each_grid(24, [&](GridShape grid) {
        const auto sequence = sequence_of(grid.tiles(), [&](std::int64_t pid) { return snippet(pid, grid); });
        if (!is_bijection(sequence, grid)) FAIL_CHECK(grid.rows << " x " << grid.columns);
    });
    // Pasted over the kernel's real grid it reads program_id(0), which counts head-dimension blocks: with one
    // such block every CTA of the launch sees pid = 0.
    const GridShape grid{32, 4};
    const auto pasted = sequence_of(grid.tiles(), [&](std::int64_t) { return snippet(0, grid); });
    CHECK(check_order(pasted, grid).lost_count == 127);
}

TEST_CASE("The CUTLASS 3 swizzle without its padding fails unless the minor side divides", "[order]") {
    int fails = 0;
    int total = 0;
    for_each_grid(19, [&](GridShape grid) {
        for (int ls = 0; ls <= 3; ++ls, ++total) {
            const TileSequence sequence = sequence_of(grid.tiles(), [&](std::int64_t id) {
                const std::int64_t offset = id & ((std::int64_t{1} << ls) - 1);
                const std::int64_t extra = id >> ls;
                return Pair{((extra / grid.columns) << ls) + offset, extra % grid.columns};
            });
            const bool whole = is_bijection(sequence, grid);
            fails += !whole;
            if (whole != (grid.rows % (1 << ls) == 0 || grid.columns == 1))
                FAIL_CHECK(grid.rows << " x " << grid.columns << " ls " << ls);
        }
    });
    CHECK(total == 1444);
    CHECK(fails == 756);
}

TEST_CASE("A Morton copy by tiles of four drops the tail unless both sides are multiples of four",
          "[order]") {
    const auto copy = [](GridShape elements) {
        TileSequence read;
        for (std::int32_t y = 0; y < elements.rows / 4; ++y)
            for (std::int32_t x = 0; x < elements.columns / 4; ++x)
                for (const TileCoord in : make_order("morton", {4, 4}))
                    read.push_back({y * 4 + in.row, x * 4 + in.column});
        return read;
    };
    for_each_grid(24, [&](GridShape elements) {
        const bool expected = elements.rows % 4 == 0 && elements.columns % 4 == 0;
        if (is_bijection(copy(elements), elements) != expected)
            FAIL_CHECK(elements.rows << " x " << elements.columns);
    });
    CHECK(check_order(copy({5, 4}), {5, 4}).lost_count == 4);
}

TEST_CASE("A Morton load that decodes three bits a side covers seven tile shapes only", "[order]") {
    std::set<std::pair<int, int>> whole;
    for_each_grid(24, [&](GridShape shape) {
        const TileSequence sequence = sequence_of(shape.tiles(), [&](std::int64_t i) {
            std::int64_t row = 0;
            std::int64_t column = 0;
            for (int bit = 0; bit < 3; ++bit) {
                row |= (i >> (2 * bit + 1) & 1) << bit;
                column |= (i >> (2 * bit) & 1) << bit;
            }
            return row < shape.rows && column < shape.columns ? Pair{row, column} : Pair{-1, -1};
        });
        if (is_bijection(sequence, shape)) whole.insert({shape.rows, shape.columns});
    });
    CHECK(whole == std::set<std::pair<int, int>>{{1, 1}, {1, 2}, {2, 2}, {2, 4}, {4, 4}, {4, 8}, {8, 8}});
}
