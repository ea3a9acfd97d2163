// SPDX-License-Identifier: Apache-2.0
// When does data leave by a slice's ways into the GPCs, and when do they hold no more than there is room for?
#include <cstdint>

#include "base/random.hpp"
#include "memory/gpc_ways.hpp"
#include "support/catch.hpp"

using namespace l2lens;

TEST_CASE("Data waits for what went to its own GPC before, not for others'") {
    GpcWays ways(2);
    CHECK(ways.leave(100, 0, 10) == 100);
    CHECK(ways.leave(100, 0, 10) == 110);
    CHECK(ways.leave(100, 1, 10) == 100);
    CHECK(ways.leave(150, 0, 10) == 150);
}

TEST_CASE("All ways together hold what has not left, and what is leaving as far as it has not") {
    GpcWays ways(3);
    for (int i = 0; i < 3; ++i) ways.leave(0, 0, 10);
    ways.leave(0, 2, 10);
    CHECK(ways.hold_more_than(39, 0));
    CHECK_FALSE(ways.hold_more_than(40, 0));
    CHECK(ways.hold_more_than(29, 5));
    CHECK_FALSE(ways.hold_more_than(30, 5));
    CHECK(ways.hold_more_than(0, 29));
    CHECK_FALSE(ways.hold_more_than(0, 30));
}

TEST_CASE("They hold no more than there is room for from that picosecond on, and not before") {
    for (std::uint64_t seed = 0; seed < 200; ++seed) {
        INFO("seed " << seed);
        RandomStream random(seed, 0);
        GpcWays ways(8);
        const std::uint32_t jobs = random.below(60);
        for (std::uint32_t i = 0; i < jobs; ++i)
            ways.leave(random.below(500), static_cast<int>(random.below(8)), 1 + random.below(40));
        const Picoseconds room = random.below(300);
        const Picoseconds from = ways.hold_at_most(room, 0);
        CHECK_FALSE(ways.hold_more_than(room, from));
        if (from > 0) CHECK(ways.hold_more_than(room, from - 1));
    }
}
