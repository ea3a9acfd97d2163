// SPDX-License-Identifier: Apache-2.0
// Stripes per wave and steps between non-neighbours: figures that can be counted on paper for the plain
// orders.
#include <string>
#include <utility>
#include <vector>

#include "support/catch.hpp"
#include "support/order.hpp"

using namespace l2lens;

namespace {

constexpr GridShape k64{64, 64};

double stripes(const std::string& name) {
    const WaveFootprint footprint = wave_footprint(make_order(name, k64), 132);
    return footprint.mean_rows + footprint.mean_columns;
}

}  // namespace

TEST_CASE("A wave of row_major touches three rows and all columns", "[order]") {
    const WaveFootprint footprint = wave_footprint(make_order("row_major", k64), 132);
    CHECK(footprint.mean_rows == 3.0);
    CHECK(footprint.mean_columns == 64.0);
    CHECK(footprint.waves == Approx(4096.0 / 132.0));
}

// Distinct stripes of A and B in a wave of 132 tiles of 64 x 64, counted with an independent script over the
// published formulas and rounded to one digit. (2 MiB a stripe for 8192^3 bf16 in tiles of 128 x 128.)
TEST_CASE("Stripes per wave of the plain, grouped and curved orders", "[order]") {
    const std::vector<std::pair<std::string, double>> expected{{"row_major", 67.0},
                                                               {"serpentine_m", 67.0},
                                                               {"group_m:8", 26.8},
                                                               {"group_m:11", 24.6},
                                                               {"group_m:12", 25.8},
                                                               {"group_m:16", 26.5},
                                                               {"group_m:24", 30.2},
                                                               {"group_m:32", 38.0},
                                                               {"hilbert", 28.3},
                                                               {"gilbert", 28.3},
                                                               {"morton", 32.4},
                                                               {"anti_diagonal", 88.1},
                                                               {"peano", 30.1},
                                                               {"ck_spatial:8:4", 38.0},
                                                               {"cutlass3:8:along_n", 26.8},
                                                               {"sm100:8", 26.8},
                                                               {"thunderkittens_snake:11", 24.1}};
    for (const auto& [name, value] : expected) {
        INFO(name);
        CHECK(stripes(name) == Approx(value).margin(0.0501));
    }
}

// Fewest jumps does not mean fewest fetches: row_major has 63 and is among the worst.
TEST_CASE("Steps between tiles that are not edge neighbours", "[order]") {
    const std::vector<std::pair<std::string, std::int64_t>> expected{
        {"row_major", 63},                      // one a row
        {"group_m:8", 511},                     // 8 groups x 64 columns, less the first
        {"serpentine_m", 0}, {"morton", 2047},  // every second step
        {"hilbert", 0},      {"gilbert", 0}};
    for (const auto& [name, jumps] : expected) {
        INFO(name);
        CHECK(wave_footprint(make_order(name, k64), 132).jumps == jumps);
    }
}

TEST_CASE("A grid smaller than a wave is one wave, and no-ops take no place in it", "[order]") {
    const TileSequence sequence{{0, 0}, kNoTile, {0, 1}, {1, 0}};
    const WaveFootprint footprint = wave_footprint(sequence, 132);
    CHECK(footprint.mean_rows == 2.0);
    CHECK(footprint.mean_columns == 2.0);
    CHECK(footprint.waves == Approx(3.0 / 132.0));
    CHECK(footprint.jumps == 1);
    CHECK(wave_footprint({}, 4).waves == 0.0);
}
