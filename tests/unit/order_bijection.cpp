// SPDX-License-Identifier: Apache-2.0
// Every order over every grid up to 24 x 24, and the odd shapes beyond.
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

// Cerveny: a diagonal step is needed exactly where the larger side is odd and the smaller even; a parity
// argument.
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
