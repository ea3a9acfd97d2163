// SPDX-License-Identifier: Apache-2.0
// Divided K loops: every step of every tile exactly once, whatever the sizes, and a few plans worked out by
// hand.
#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"
#include "order/stream_k.hpp"
#include "support/catch.hpp"

using namespace l2lens;

namespace {

// "" when the items are a partition of [0, k_steps) of each tile, else what is wrong.
std::string fault(const WorkPlan& plan, Index tiles, Index k_steps) {
    std::map<Index, std::vector<std::pair<Index, Index>>> ranges;
    for (const WorkItem& item : plan.items) {
        if (item.k_begin >= item.k_end) return "an empty piece";
        ranges[item.tile].push_back({item.k_begin, item.k_end});
    }
    if (std::ssize(ranges) != tiles || ranges.begin()->first != 0 || ranges.rbegin()->first != tiles - 1)
        return "the wrong tiles";
    for (auto& [tile, pieces] : ranges) {
        std::sort(pieces.begin(), pieces.end());
        Index reached = 0;
        for (const auto& [begin, end] : pieces) {
            if (begin != reached) return "tile " + std::to_string(tile) + " at step " + std::to_string(begin);
            reached = end;
        }
        if (reached != k_steps) return "tile " + std::to_string(tile) + " ends at " + std::to_string(reached);
    }
    return "";
}

Index shortest_piece(const WorkPlan& plan) {
    Index shortest = plan.items.front().k_end - plan.items.front().k_begin;
    for (const WorkItem& item : plan.items) shortest = std::min(shortest, item.k_end - item.k_begin);
    return shortest;
}

}  // namespace

TEST_CASE("Random sizes: CUTLASS 2 and 3 compute each K step once", "[order]") {
    constexpr std::uint64_t kSeed = 20230225;
    INFO("seed " << kSeed);
    RandomStream random(kSeed, 0);
    int streams = 0;
    int splits = 0;
    for (int i = 0; i < 3000; ++i) {
        const Index tiles = 1 + random.below(300);
        const Index k_steps = 1 + random.below(100);
        const Index sms = 1 + random.below(140);
        const Index occupancy = 1 + random.below(3);
        CAPTURE(tiles, k_steps, sms, occupancy);
        const WorkPlan two = cutlass2_stream_k_plan(tiles, k_steps, sms, occupancy);
        const std::string fault_of_two = fault(two, tiles, k_steps);
        INFO(fault_of_two);
        REQUIRE(fault_of_two.empty());

        Sm90StreamK settings;
        settings.cluster_size = Index{1} << random.below(3);
        settings.wave = settings.cluster_size * sms;
        settings.heuristic = random.below(2) == 0;
        settings.most_groups = 1 + random.below(8);
        const Index rounded = tiles * settings.cluster_size;
        const WorkPlan three = sm90_stream_k_plan(rounded, k_steps, settings);
        const std::string fault_of_three = fault(three, rounded, k_steps);
        INFO(fault_of_three);
        REQUIRE(fault_of_three.empty());
        if (three.splits == 1 && k_steps >= 16) REQUIRE(shortest_piece(three) >= 8);
        streams += three.stream_k_tiles > 0 && three.splits == 1;
        splits += three.splits > 1;
    }
    CHECK(streams > 100);  // the interesting plans did occur
    CHECK(splits > 10);
}

TEST_CASE("Tiles that fill their waves are not divided", "[order]") {
    CHECK(cutlass2_stream_k_plan(264, 64, 132, 1).stream_k_units == 0);
    CHECK(sm90_stream_k_plan(264, 64, {}).stream_k_units == 0);
    CHECK(sm90_stream_k_plan(140, 8, {}).stream_k_units == 0);        // too short a K
    CHECK(sm90_stream_k_plan(132 + 66, 64, {}).stream_k_units == 0);  // heuristic: the last wave is half full
    Sm90StreamK always;
    always.heuristic = false;
    CHECK(sm90_stream_k_plan(132 + 66, 64, always).stream_k_units == 132);
}

// One tile over: b CTAs save 64 - ceil(64 / b) - (2 + 2 b) steps, most (39) at 5 and 6; ties go to more.
TEST_CASE("CUTLASS 2 splits a single tile that is left over among six CTAs", "[order]") {
    const WorkPlan plan = cutlass2_stream_k_plan(133, 64, 132, 1);
    CHECK(plan.stream_k_tiles == 1);
    CHECK(plan.stream_k_units == 6);
    CHECK(plan.splits == 6);
    CHECK(plan.items[0] == WorkItem{0, 0, 0, 11});  // 64 = 4 x 11 + 2 x 10
    CHECK(plan.items[5] == WorkItem{5, 0, 54, 64});
    CHECK(plan.items[6] == WorkItem{6, 1, 0, 64});
}

// 132 CTAs of at most 49 steps: 64 - 49 - int(2 + 0.02 * 3 * 49 + 6) = 5 steps saved, fewer CTAs save no
// more.
TEST_CASE("CUTLASS 2 spreads less than a wave over all SMs, each CTA working backwards", "[order]") {
    const WorkPlan plan = cutlass2_stream_k_plan(100, 64, 132, 1);
    CHECK(plan.stream_k_tiles == 100);
    CHECK(plan.stream_k_units == 132);
    CHECK(plan.splits == 1);
    CHECK(plan.items[0] == WorkItem{0, 0, 0, 49});  // 6400 = 64 x 49 + 68 x 48
    CHECK(plan.items[1] == WorkItem{1, 1, 0, 34});
    CHECK(plan.items[2] == WorkItem{1, 0, 49, 64});
}

// 140 tiles of 64 steps on 132 CTAs: all of them, in 4 groups, the most up to 8 that divides both 132 and
// 140.
TEST_CASE("SM90 interleaves its groups over the tiles", "[order]") {
    const WorkPlan plan = sm90_stream_k_plan(140, 64, {});
    CHECK(plan.stream_k_tiles == 140);
    CHECK(plan.stream_k_units == 132);
    CHECK(plan.groups == 4);
    // 35 x 64 steps over 33 CTAs: 29 of 68, 4 of 67. The first ends 4 steps into a tile: moved back to its
    // edge.
    CHECK(plan.items[0] == WorkItem{0, 0, 0, 64});
    CHECK(plan.items[1] == WorkItem{1, 1, 0, 64});
}

TEST_CASE("SM90 splits a quarter of a wave in four", "[order]") {
    const WorkPlan plan = sm90_stream_k_plan(33, 64, {});
    CHECK(plan.splits == 4);
    REQUIRE(plan.items.size() == 132);
    for (const WorkItem& item : plan.items) CHECK(item.k_end - item.k_begin == 16);
}

TEST_CASE("Sizes that are none are refused", "[order]") {
    CHECK_THROWS_AS(cutlass2_stream_k_plan(0, 1, 132, 1), BadInput);
    CHECK_THROWS_AS(cutlass2_stream_k_plan(1, 1, 0, 1), BadInput);
    CHECK_THROWS_AS(cutlass2_stream_k_plan(1, 1, 132, 0), BadInput);
    Sm90StreamK none;
    none.wave = 0;
    CHECK_THROWS_AS(sm90_stream_k_plan(1, 1, none), BadInput);
}
