// SPDX-License-Identifier: Apache-2.0
// Do tiles differ in pace as much as they are told to, and a tile never from itself?
#include <cmath>

#include "schedule/pace.hpp"
#include "support/catch.hpp"

using namespace l2lens;

TEST_CASE("Paces of tiles spread by what is asked for around the mean") {
    constexpr double kSpread = 0.0012;
    constexpr int kTiles = 20000;
    double sum = 0, squares = 0;
    for (std::int32_t tile = 0; tile < kTiles; ++tile) {
        const double off = tile_pace(kSpread, 7, tile) - 1;
        CHECK(std::abs(off) <= kSpread * std::sqrt(3.0));  // half the width of a uniform
        sum += off;
        squares += off * off;
    }
    // Standard errors of the mean and of a uniform's deviation: 1 / sqrt(n) and 0.45 / sqrt(n) of it.
    const double error = kSpread / std::sqrt(static_cast<double>(kTiles));
    CHECK(std::abs(sum / kTiles) < 4 * error);
    CHECK(std::abs(std::sqrt(squares / kTiles) - kSpread) < 4 * 0.45 * error);
}

TEST_CASE("A tile has one pace of a seed, and others another") {
    CHECK(tile_pace(0.01, 1, 5) == tile_pace(0.01, 1, 5));
    CHECK(tile_pace(0.01, 1, 5) != tile_pace(0.01, 1, 6));
    CHECK(tile_pace(0.01, 1, 5) != tile_pace(0.01, 2, 5));
    CHECK(tile_pace(0, 1, 5) == 1);
}

TEST_CASE(
    "What epilogues take spreads by what is asked for around the mean, the same for a tile at any time") {
    constexpr double kJitterNs = 70;
    constexpr int kTiles = 20000;
    double sum = 0, squares = 0;
    for (std::int32_t tile = 0; tile < kTiles; ++tile) {
        const Picoseconds found = epilogue_deviation(kJitterNs, 7, tile);
        CHECK(found == epilogue_deviation(kJitterNs, 7, tile));
        const double ns = static_cast<double>(found) / 1000;
        sum += ns;
        squares += ns * ns;
    }
    const double error = kJitterNs / std::sqrt(static_cast<double>(kTiles));
    CHECK(std::abs(sum / kTiles) < 4 * error);
    CHECK(std::abs(std::sqrt(squares / kTiles) - kJitterNs) < 4 * 0.45 * error);
    CHECK(epilogue_deviation(0, 7, 5) == 0);
}
