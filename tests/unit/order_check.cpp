// SPDX-License-Identifier: Apache-2.0
// The check names exactly what a hand count finds.
#include <limits>

#include "base/error.hpp"
#include "support/catch.hpp"
#include "support/complaint.hpp"
#include "support/order.hpp"

using namespace l2lens;

TEST_CASE("A bijection has nothing to describe", "[order]") {
    const OrderCheck check = check_order(make_order("row_major", {3, 4}), {3, 4});
    CHECK(check.bijection());
    CHECK(check.launched == 12);
    CHECK(check.describe().empty());
}

TEST_CASE("Lost, doubled, stray and no-op ids are told apart", "[order]") {
    const TileSequence sequence{{0, 0}, {0, 0}, {0, 0}, kNoTile, {1, 2}, {-1, 0}, {2, 0}, {0, 1}};
    const OrderCheck check = check_order(sequence, {2, 2});
    CHECK_FALSE(check.bijection());
    CHECK(check.launched == 8);
    CHECK(check.no_ops == 1);
    CHECK(check.lost == std::vector<TileCoord>{{1, 0}, {1, 1}});
    CHECK(check.doubled == std::vector<TileCoord>{{0, 0}});  // named once, however often it is computed
    REQUIRE(check.out_of_range_count == 3);
    CHECK(check.out_of_range[0].launch_id == 4);
    CHECK(check.out_of_range[1].tile == TileCoord{-1, 0});
    CHECK(check.describe() ==
          "2 tiles lost: (1,0), (1,1); 1 tile computed more than once: (0,0); "
          "3 ids out of range: (1,2) from id 4, (-1,0) from id 5, (2,0) from id 6");
}

TEST_CASE("Only the first ten of each are named, all are counted", "[order]") {
    const OrderCheck check = check_order({}, {5, 5});
    CHECK(check.lost_count == 25);
    REQUIRE(check.lost.size() == 10);
    CHECK(check.lost.back() == TileCoord{1, 4});
    CHECK_THAT(check.describe(), ContainsSubstring("(1,4), ..."));
}

TEST_CASE("Names are read strictly, and the message says what would be right", "[order]") {
    const auto message = [](const std::string& name, GridShape grid = {4, 4}) {
        return test::complaint_of([&] { make_order(name, grid); });
    };
    CHECK_THAT(message("hilbrt"), ContainsSubstring("did you mean 'hilbert'?"));
    CHECK_THAT(message(""), ContainsSubstring("empty"));
    CHECK_THAT(message(":8"), ContainsSubstring("unknown order ''"));
    CHECK_THAT(message("group_m"), ContainsSubstring("group_m:G"));
    CHECK_THAT(message("group_m:8:9"), ContainsSubstring("too many"));
    CHECK_THAT(message("row_major:1"), ContainsSubstring("too many"));
    CHECK_THAT(message("group_m:"), ContainsSubstring("whole number"));
    CHECK_THAT(message("group_m:8x"), ContainsSubstring("whole number"));
    CHECK_THAT(message("group_m:+8"), ContainsSubstring("whole number"));
    CHECK_THAT(message("group_m: 8"), ContainsSubstring("whole number"));
    CHECK_THAT(message("group_m:0"), ContainsSubstring("G = 0 is outside 1 to 1048576"));
    CHECK_THAT(message("group_m:-3"), ContainsSubstring("G = -3 is outside"));
    CHECK_THAT(message("group_m:99999999999999999999"),
               ContainsSubstring("G = 99999999999999999999 is outside"));
    CHECK_THAT(message("random"), ContainsSubstring("random:SEED"));
    CHECK_THAT(message("row_major", {0, 4}), ContainsSubstring("0 x 4"));
    CHECK_THAT(message("row_major", {4, -1}), ContainsSubstring("4 x -1"));
    CHECK_THAT(message("row_major", {1 << 30, 1 << 30}), ContainsSubstring("at most"));
    CHECK_THROWS_AS(check_order({}, {0, 1}), BadInput);
    CHECK_THROWS_AS(wave_footprint({}, 0), BadInput);
}

TEST_CASE("A context that describes no machine is refused", "[order]") {
    OrderContext context;
    context.xcds = 0;
    CHECK_THROWS_WITH(make_order("row_major", {2, 2}, context), ContainsSubstring("XCDs = 0"));
}

TEST_CASE("Every row of the catalogue runs as it advertises itself", "[order]") {
    for (const OrderInfo& info : order_catalogue()) {
        INFO(info.name);
        CHECK(info.usage.rfind(info.name, 0) == 0);
        CHECK_FALSE(info.meaning.empty());
        CHECK_FALSE(info.source.empty());
        CHECK(info.of_kernel == follows_from_kernel(info.usual));
        if (info.of_kernel) continue;  // there is none here: order_sharing.cpp
        CHECK(test::is_bijection(make_order(info.usual, {64, 64}), {64, 64}));
    }
}

TEST_CASE("The common orders are a dozen bijections", "[order]") {
    CHECK(common_orders().size() == 12);
    for (const std::string& name : common_orders()) {
        INFO(name);
        CHECK(test::is_bijection(make_order(name, {57, 33}), {57, 33}));
    }
}
