// SPDX-License-Identifier: Apache-2.0
// Whole sequences on small grids, written out by running the cited sources' formulas by hand or as published.
#include "support/catch.hpp"
#include "support/order.hpp"

using namespace l2lens;
using l2lens::test::order_text;

namespace {
constexpr GridShape k5x4{5, 4};
}

TEST_CASE("row_major walks n first, column_major m first", "[order]") {
    CHECK(order_text("row_major", {2, 3}) == "00 01 02 10 11 12");
    CHECK(order_text("column_major", {2, 3}) == "00 10 01 11 02 12");
}

TEST_CASE("group_m is Triton's grouped order with a narrower last group", "[order]") {
    CHECK(order_text("group_m:2", k5x4) == "00 10 01 11 02 12 03 13 20 30 21 31 22 32 23 33 40 41 42 43");
    CHECK(order_text("group_m:3", k5x4) == "00 10 20 01 11 21 02 12 22 03 13 23 30 40 31 41 32 42 33 43");
    CHECK(order_text("group_m:4", {7, 3}) ==
          "00 10 20 30 01 11 21 31 02 12 22 32 40 50 60 41 51 61 42 52 62");
}

TEST_CASE("group_n is group_m with the axes exchanged", "[order]") {
    CHECK(order_text("group_n:2", {4, 5}) == "00 01 10 11 20 21 30 31 02 03 12 13 22 23 32 33 04 14 24 34");
}

TEST_CASE("A serpentine's odd groups walk backwards", "[order]") {
    CHECK(order_text("serpentine_m", {3, 3}) == "00 01 02 12 11 10 20 21 22");
    CHECK(order_text("serpentine_n", {3, 3}) == "00 10 20 21 11 01 02 12 22");
    CHECK(order_text("serpentine_m:2", k5x4) ==
          "00 10 01 11 02 12 03 13 23 33 22 32 21 31 20 30 40 41 42 43");
}

TEST_CASE("diagonal walks the torus, anti_diagonal the wavefronts", "[order]") {
    CHECK(order_text("diagonal", {3, 3}) == "00 11 22 01 12 20 02 10 21");
    CHECK(order_text("diagonal", {3, 2}) == "00 11 20 01 10 21");
    CHECK(order_text("anti_diagonal", {3, 3}) == "00 01 10 02 11 20 12 21 22");
}

TEST_CASE("The curves on 5 x 4 tiles", "[order]") {
    CHECK(order_text("hilbert", k5x4) == "00 01 11 10 20 30 31 21 22 32 33 23 13 12 02 03 43 42 41 40");
    CHECK(order_text("morton", k5x4) == "00 01 10 11 02 03 12 13 20 21 30 31 22 23 32 33 40 41 42 43");
    // One diagonal step, 32 -> 41: unavoidable where the larger side is odd and the smaller even.
    CHECK(order_text("gilbert", k5x4) == "00 10 11 01 02 03 13 12 22 23 33 43 42 32 41 31 21 20 30 40");
}

TEST_CASE("random is a fixed shuffle: the same for a seed, another for the next", "[order]") {
    CHECK(make_order("random:7", {9, 9}) == make_order("random:7", {9, 9}));
    CHECK(make_order("random:7", {9, 9}) != make_order("random:8", {9, 9}));
    CHECK(test::is_bijection(make_order("random:7", {9, 9}), {9, 9}));
}
