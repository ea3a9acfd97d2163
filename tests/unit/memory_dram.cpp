// SPDX-License-Identifier: Apache-2.0
// When does DRAM serve nobody, or only what is written, and how long do reads wait for it?
#include <algorithm>
#include <cmath>

#include "base/random.hpp"
#include "memory/dram_pause.hpp"
#include "memory/dram_turn.hpp"
#include "support/catch.hpp"

using namespace l2lens;

namespace {

constexpr Picoseconds kLength = 225 * kPsPerNs;
constexpr int kLines = 9;
constexpr Picoseconds kSector = 650;  // a slice's DRAM of an H200

DramTurn turn() {
    return {kLength, kLines, kSector};
}

}  // namespace

TEST_CASE("DRAM turns to writes when enough lines have gathered, and those that come meanwhile go along") {
    DramTurns turns;
    Picoseconds now = 0;
    const auto write_line = [&] { turns.write(turn(), now, kSectorsPerLine, kSectorsPerLine * kSector); };
    for (int line = 1; line < kLines; ++line, now += 1000) {
        write_line();
        CHECK(turns.rest(now) == 0);
    }
    write_line();
    const Picoseconds begin = now;
    CHECK(turns.rest(begin) == kLength);
    for (now = begin + kLength / 2; now < begin + kLength; now += 1000) write_line();
    CHECK(turns.rest(begin + kLength - 7) == 7);
    CHECK(turns.rest(begin + kLength) == 0);
    for (now = begin + kLength; now < begin + kLength + 1000 * (kLines - 1); now += 1000) write_line();
    CHECK(turns.rest(now) == 0);
    write_line();
    CHECK(turns.rest(now) == kLength);
}

TEST_CASE("The slowest of some lines waits for turns as the slowest of as many that are tried does") {
    constexpr double kLoad = 0.05, kBacklog = 3000;
    constexpr int kTries = 40000;
    // From the end of a turn to the next DRAM is to be busy writing for kLines lines.
    const double gathering = kLines * kSectorsPerLine * static_cast<double>(kSector) / kLoad;
    const double found = static_cast<double>(kLength) / (static_cast<double>(kLength) + gathering);
    RandomStream random(1, 0);
    for (const int lines : {1, 3, 20}) {
        INFO(lines << " lines");
        double tried = 0, drawn = 0;
        for (int i = 0; i < kTries; ++i) {
            double slowest = 0;
            for (int line = 0; line < lines; ++line)
                if (random.uniform() < found)
                    slowest = std::max(slowest, random.uniform() * static_cast<double>(kLength) + kBacklog);
            tried += slowest / kTries;
            const double quantile = -std::log(1 - random.uniform());
            drawn += static_cast<double>(turn().slowest(lines, kLoad, quantile, kBacklog)) / kTries;
        }
        CHECK(drawn == Approx(tried).epsilon(0.03));
    }
}

TEST_CASE("Nobody waits for DRAM's turns where nothing is written, or where it has none") {
    CHECK(turn().slowest(100, 0, 0.1, 3000) == 0);
    CHECK(DramTurn(0, 0, kSector).slowest(100, 0.5, 0.1, 3000) == 0);
    DramTurns turns;
    turns.write(DramTurn(0, 0, kSector), 1000, kSectorsPerLine, kSector);
    CHECK(turns.rest(1000) == 0);
}

TEST_CASE("DRAM pauses once in each period, at a time that the seed draws, and goes on at the end of it") {
    constexpr Picoseconds kPause = 780 * kPsPerNs, kPeriod = 100100 * kPsPerNs, kStep = 1300;
    for (const std::uint64_t seed : {0u, 1u, 2u}) {
        const DramPause pause(kPause, kPeriod, seed);
        Picoseconds waiting = 0, longest = 0;
        for (Picoseconds now = 0; now < 5 * kPeriod; now += kStep) {
            const Picoseconds served = pause.after(now);
            REQUIRE(served >= now);
            REQUIRE(pause.after(served) == served);
            waiting += served > now ? kStep : 0;
            longest = std::max(longest, served - now);
        }
        CHECK(static_cast<double>(waiting) == Approx(5 * static_cast<double>(kPause)).epsilon(0.01));
        CHECK(longest <= kPause);
        CHECK(longest > kPause - kStep);
    }
    const auto first = [&](std::uint64_t seed) {
        const DramPause pause(kPause, kPeriod, seed);
        Picoseconds now = 0;
        while (pause.after(now) == now) now += kStep;
        return now;
    };
    CHECK(first(0) != first(1));
    CHECK(DramPause().after(12345) == 12345);
}
