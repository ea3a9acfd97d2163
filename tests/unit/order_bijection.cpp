// SPDX-License-Identifier: Apache-2.0
// Every order over every grid up to 24 x 24, and the odd shapes beyond.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/order.hpp"

using namespace l2lens;
using l2lens::test::for_each_grid;
using l2lens::test::is_bijection;

TEST_CASE("Plain, grouped and curved orders are bijections on all grids", "[order]") {
    const std::vector<std::string> names{
        "row_major",      "column_major",   "diagonal",       "anti_diagonal", "hilbert",   "gilbert",
        "morton",         "random:3",       "serpentine_m",   "serpentine_n",  "group_m:1", "group_m:2",
        "group_m:3",      "group_m:8",      "group_m:1000",   "group_n:2",     "group_n:5", "serpentine_m:3",
        "serpentine_m:8", "serpentine_n:4", "group_m:1048576"};
    for (const std::string& name : names)
        for_each_grid(24, [&](GridShape grid) {
            const TileSequence sequence = make_order(name, grid);
            if (is_bijection(sequence, grid) && std::ssize(sequence) == grid.tiles()) return;
            FAIL_CHECK(name << " on " << grid.rows << " x " << grid.columns << ": "
                            << check_order(sequence, grid).describe());
        });
    SUCCEED("all grids visited");
}

TEST_CASE("Long thin grids cost no more than their tiles", "[order]") {
    // A filter over the whole square would walk 10^12 cells here.
    for (const char* name : {"hilbert", "morton", "gilbert"}) {
        INFO(name);
        CHECK(is_bijection(make_order(name, {1, 1'000'000}), {1, 1'000'000}));
        CHECK(is_bijection(make_order(name, {1'000'000, 1}), {1'000'000, 1}));
    }
}

namespace {

// Gilbert's recursion on plain numbers, with the rounding of its halves open: it walks along (ax, ay), fills
// (bx, by).
void gilbert_oracle(int x, int y, int ax, int ay, int bx, int by, int (*half)(int), TileSequence& out) {
    const int w = std::abs(ax + ay);
    const int h = std::abs(bx + by);
    const auto sign = [](int v) { return v > 0 ? 1 : v < 0 ? -1 : 0; };
    const int dax = sign(ax), day = sign(ay), dbx = sign(bx), dby = sign(by);
    if (h == 1 || w == 1) {
        const bool along = h == 1;
        for (int i = 0; i < (along ? w : h); ++i)
            out.push_back({x + i * (along ? dax : dbx), y + i * (along ? day : dby)});
        return;
    }
    int ax2 = half(ax), ay2 = half(ay), bx2 = half(bx), by2 = half(by);
    if (2 * w > 3 * h) {
        if (std::abs(ax2 + ay2) % 2 == 1 && w > 2) ax2 += dax, ay2 += day;
        gilbert_oracle(x, y, ax2, ay2, bx, by, half, out);
        gilbert_oracle(x + ax2, y + ay2, ax - ax2, ay - ay2, bx, by, half, out);
        return;
    }
    if (std::abs(bx2 + by2) % 2 == 1 && h > 2) bx2 += dbx, by2 += dby;
    gilbert_oracle(x, y, bx2, by2, ax2, ay2, half, out);
    gilbert_oracle(x + bx2, y + by2, ax, ay, bx - bx2, by - by2, half, out);
    gilbert_oracle(x + ax - dax + bx2 - dbx, y + ay - day + by2 - dby, -bx2, -by2, ax2 - ax, ay2 - ay, half,
                   out);
}

TileSequence gilbert_oracle(GridShape grid, int (*half)(int)) {
    TileSequence out;
    if (grid.rows >= grid.columns)
        gilbert_oracle(0, 0, grid.rows, 0, 0, grid.columns, half, out);
    else
        gilbert_oracle(0, 0, 0, grid.columns, grid.rows, 0, half, out);
    return out;
}

}  // namespace

// The reference is Python, whose // rounds down; C's division gives another curve on 1601 of these
// rectangles.
TEST_CASE("Gilbert's halves round down, as in the reference", "[order]") {
    const auto down = [](int v) { return static_cast<int>(std::floor(v / 2.0)); };
    const auto to_zero = [](int v) { return v / 2; };
    int differ = 0;
    for_each_grid(64, [&](GridShape grid) {
        const TileSequence sequence = make_order("gilbert", grid);
        if (sequence != gilbert_oracle(grid, down)) FAIL_CHECK(grid.rows << " x " << grid.columns);
        differ += sequence != gilbert_oracle(grid, to_zero);
    });
    CHECK(differ == 1601);
}

// A diagonal step is taken exactly where the larger side is odd and the smaller even (a parity argument); a
// side of two needs none, for the curve then ends at another corner.
TEST_CASE("Gilbert takes one diagonal step where parity demands it, none elsewhere", "[order]") {
    int with_a_diagonal = 0;
    for_each_grid(64, [&](GridShape grid) {
        const TileSequence sequence = make_order("gilbert", grid);
        const std::int64_t jumps = wave_footprint(sequence, 1).jumps;
        const int larger = std::max(grid.rows, grid.columns);
        const int smaller = std::min(grid.rows, grid.columns);
        const bool expected = larger % 2 == 1 && smaller % 2 == 0 && smaller > 2;
        with_a_diagonal += jumps == 1;
        if (jumps != (expected ? 1 : 0)) FAIL_CHECK(grid.rows << " x " << grid.columns << ": " << jumps);
        if (!is_bijection(sequence, grid)) FAIL_CHECK(grid.rows << " x " << grid.columns);
    });
    CHECK(with_a_diagonal == 930);
}

TEST_CASE("Hilbert's steps are all to neighbours on power-of-two squares, and few are not elsewhere",
          "[order]") {
    for (const std::int32_t side : {1, 2, 4, 8, 16, 32, 64})
        CHECK(wave_footprint(make_order("hilbert", {side, side}), 1).jumps == 0);
    CHECK(wave_footprint(make_order("hilbert", {57, 57}), 1).jumps == 4);
    CHECK(wave_footprint(make_order("hilbert", {100, 63}), 1).jumps == 38);
}

// The slow obvious form of the filter, against the pruned walk.
TEST_CASE("Morton equals sorting the tiles by their interleaved bits", "[order]") {
    const auto key = [](TileCoord tile) {
        std::int64_t bits = 0;
        for (int b = 0; b < 10; ++b)
            bits |= (std::int64_t{tile.row >> b & 1} << (2 * b + 1)) |
                    (std::int64_t{tile.column >> b & 1} << (2 * b));
        return bits;
    };
    for_each_grid(17, [&](GridShape grid) {
        const TileSequence sequence = make_order("morton", grid);
        for (std::size_t i = 1; i < sequence.size(); ++i)
            if (key(sequence[i - 1]) >= key(sequence[i])) FAIL_CHECK(grid.rows << " x " << grid.columns);
    });
    SUCCEED("all grids visited");
}
