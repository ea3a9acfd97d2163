// SPDX-License-Identifier: Apache-2.0
// Do tiles differ in pace as much as they are told to, each by a draw of its own?
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "schedule/pace.hpp"
#include "support/catch.hpp"

using namespace l2lens;

namespace {

// How far from the mean a tile's pace lies, in standard deviations.
double deviation(std::uint64_t seed, std::int32_t tile) {
    return (tile_pace(0.01, seed, tile) - 1) / 0.01;
}

template <class Draw>
std::vector<double> draws(int tiles, Draw draw) {
    std::vector<double> all;
    for (std::int32_t tile = 0; tile < tiles; ++tile) all.push_back(draw(tile));
    return all;
}

// Of draws whose mean is 0 and standard deviation 1.
double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum / static_cast<double>(a.size());
}

}  // namespace

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

TEST_CASE("A tile draws its place once for each seed, whatever the spread") {
    // Of one draw the distance from the mean is in proportion to the spread, and 0 without any.
    for (const std::int32_t tile : {0, 5, 6, 4095}) {
        for (const std::uint64_t seed : {1u, 2u}) {
            const double draw = deviation(seed, tile);
            CHECK(tile_pace(0.02, seed, tile) - 1 == Approx(0.02 * draw).epsilon(1e-9));
            CHECK(tile_pace(0.0012, seed, tile) - 1 == Approx(0.0012 * draw).epsilon(1e-9));
            CHECK(tile_pace(0, seed, tile) == 1);
        }
    }
}

TEST_CASE("A tile's draws tell nothing of its neighbours', of another seed's or of its epilogue") {
    constexpr int kTiles = 20000;
    const auto pace = [](std::uint64_t seed) {
        return draws(kTiles, [seed](std::int32_t tile) { return deviation(seed, tile); });
    };
    const std::vector<double> one = pace(1), two = pace(2);
    const std::vector<double> next = draws(kTiles, [](std::int32_t tile) { return deviation(1, tile + 1); });
    const std::vector<double> epilogue = draws(kTiles, [](std::int32_t tile) {
        return static_cast<double>(epilogue_deviation(70, 1, tile)) / 70'000;
    });
    // What is independent has correlation 0, with standard error 1 / sqrt(n).
    const double error = 1 / std::sqrt(static_cast<double>(kTiles));
    CHECK(std::abs(correlation(one, two)) < 4 * error);
    CHECK(std::abs(correlation(one, next)) < 4 * error);
    CHECK(std::abs(correlation(one, epilogue)) < 4 * error);
}

TEST_CASE("What epilogues take spreads by what is asked for around the mean") {
    constexpr double kJitterNs = 70;
    constexpr int kTiles = 20000;
    double sum = 0, squares = 0, least = 0, most = 0;
    for (std::int32_t tile = 0; tile < kTiles; ++tile) {
        const double ns = static_cast<double>(epilogue_deviation(kJitterNs, 7, tile)) / 1000;
        sum += ns;
        squares += ns * ns;
        least = std::min(least, ns);
        most = std::max(most, ns);
    }
    const double error = kJitterNs / std::sqrt(static_cast<double>(kTiles));
    CHECK(std::abs(sum / kTiles) < 4 * error);
    CHECK(std::abs(std::sqrt(squares / kTiles) - kJitterNs) < 4 * 0.45 * error);
    // A uniform's ends are sqrt(3) of its deviation from the mean; of n draws the outermost are within some
    // 1 / n of its width, and within 10 / n but once in 20,000.
    const double end = kJitterNs * std::sqrt(3.0);
    CHECK(most <= end + 0.001);
    CHECK(least >= -end - 0.001);
    CHECK(most > end * (1 - 2 * 10.0 / kTiles));
    CHECK(least < -end * (1 - 2 * 10.0 / kTiles));
    CHECK(epilogue_deviation(0, 7, 5) == 0);
}
