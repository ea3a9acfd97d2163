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
    // Fisher and Yates' shuffle from the last tile down, by xorshift64* seeded through splitmix64, written
    // once more in Python from the papers that sim/base/random.hpp names.
    CHECK(order_text("random:7", {4, 3}) == "12 10 20 11 01 00 30 02 22 31 32 21");
    CHECK(order_text("random:8", {4, 3}) == "30 02 11 00 21 20 32 12 31 10 22 01");
}

TEST_CASE("group_m_rotated begins its ragged group at a column of its own", "[order]") {
    CHECK(order_text("group_m_rotated:4", {7, 3}) ==
          "00 10 20 30 01 11 21 31 02 12 22 32 41 51 61 42 52 62 40 50 60");
}

TEST_CASE("group_m_tutorial keeps the columns and rotates rows", "[order]") {
    CHECK(order_text("group_m_tutorial:3", k5x4) == order_text("group_m:3", k5x4));
    CHECK(order_text("group_m_tutorial:4", {7, 3}) == order_text("group_m:4", {7, 3}));
    // 20 ids in the first group of 5 rows; 20 mod 3 = 2: the rows of the last group begin at 7.
    CHECK(order_text("group_m_tutorial:5", {8, 4}).substr(60) == "70 50 60 71 51 61 72 52 62 73 53 63");
}

TEST_CASE("SM90 pads both sides to the swizzle and walks strips along N or M", "[order]") {
    // The padded 6 x 4 grid; row 5 is padding.
    CHECK(order_text("cutlass3:2:along_n", k5x4) ==
          "00 10 01 11 02 12 03 13 20 30 21 31 22 32 23 33 40 - 41 - 42 - 43 -");
    CHECK(order_text("cutlass3:2:along_m", k5x4) ==
          "00 01 10 11 20 21 30 31 40 41 - - 02 03 12 13 22 23 32 33 42 43 - -");
    CHECK(order_text("cutlass3:2:along_n", {6, 4}) ==
          "00 10 01 11 02 12 03 13 20 30 21 31 22 32 23 33 40 50 41 51 42 52 43 53");
    CHECK(order_text("cutlass3:2:along_m", {6, 4}) ==
          "00 01 10 11 20 21 30 31 40 41 50 51 02 03 12 13 22 23 32 33 42 43 52 53");
}

TEST_CASE("SM100 exchanges digits where the swizzle divides and leaves the rest", "[order]") {
    CHECK(order_text("sm100:2", k5x4) == "00 01 10 11 40 20 21 30 31 41 02 03 12 13 42 22 23 32 33 43");
}

TEST_CASE("DeepGEMM's groups, and its even part first for clusters of two", "[order]") {
    CHECK(order_text("deepgemm:8:on_b", {9, 3}) ==
          "00 10 20 30 40 50 60 70 01 11 21 31 41 51 61 71 02 12 22 32 42 52 62 72 80 81 82");
    OrderContext pair;
    pair.cluster_rows = 2;
    CHECK(order_text("deepgemm:8:on_b", {11, 2}, pair) ==
          "00 10 20 30 40 50 60 70 01 11 21 31 41 51 61 71 80 90 81 91 10,0 10,1");
}

TEST_CASE("ThunderKittens' snake and Gluon's planar snake", "[order]") {
    CHECK(order_text("thunderkittens_snake:2", k5x4) ==
          "00 01 10 11 20 21 30 31 40 41 42 43 32 33 22 23 12 13 02 03");
    CHECK(order_text("thunderkittens_snake:3", k5x4) ==
          "00 01 02 10 11 12 20 21 22 30 31 32 40 41 42 43 33 23 13 03");
    CHECK(order_text("planar_snake:0:2", k5x4) ==
          "00 10 01 11 02 12 03 13 23 33 22 32 21 31 20 30 40 41 42 43");
}

TEST_CASE("Composable Kernel's spatial partition", "[order]") {
    CHECK(order_text("ck_spatial:8:4", k5x4) ==
          "00 30 21 12 03 23 40 42 10 01 31 22 13 33 41 43 20 11 02 32");
}

TEST_CASE("fast.cu walks super-tiles in row-major order", "[order]") {
    CHECK(order_text("fast_cu:2x2", {4, 4}) == "00 01 10 11 02 03 12 13 20 21 30 31 22 23 32 33");
}

TEST_CASE("Peano's curve on nine tiles", "[order]") {
    CHECK(order_text("peano", {3, 3}) == "00 01 02 12 11 10 20 21 22");
}

TEST_CASE("CUTLASS 2 strips are two to the s columns wide and all rows high", "[order]") {
    CHECK(order_text("cutlass2_identity:2", {3, 3}) == "00 01 10 11 20 21 02 - 12 - 22 -");
    CHECK(order_text("cutlass2_no_padding:2", {3, 3}) == order_text("column_major", {3, 3}));
    CHECK(order_text("cutlass2_no_padding:2", {2, 4}) == "00 01 10 11 02 03 12 13");
    CHECK(order_text("cutlass2_horizontal", {2, 3}) == order_text("row_major", {2, 3}));
    CHECK(order_text("cutlass2_batched", {2, 3}) == order_text("column_major", {2, 3}));
    CHECK(order_text("cutlass2_cohort", {1, 5}).substr(0, 14) == "00 01 02 03 - ");
}
