// SPDX-License-Identifier: Apache-2.0
#include "load/user_order.hpp"

#include <chrono>
#include <string>
#include <vector>

#include "support/catch.hpp"
#include "support/complaint.hpp"
#include "support/temporary_file.hpp"

using namespace l2lens;

namespace {

std::string order_error(const std::string& name, GridShape grid = {4, 4}) {
    return test::complaint_of([&] { resolve_order(name, grid); });
}

}  // namespace

TEST_CASE("A Lua expression is an order") {
    const GridShape grid{3, 5};
    CHECK(resolve_order("lua: pid // tn, pid % tn", grid) == make_order("row_major", grid));
    CHECK(resolve_order("lua: return pid % tm, pid // tm", grid) == make_order("column_major", grid));
    CHECK(resolve_order("lua:return (pid - pid % tn) / tn, pid % tn", grid) ==
          make_order("row_major", grid));  // floats
}

TEST_CASE("Triton's grouped index math pastes nearly as it is") {
    // Triton, tutorial 03-matrix-multiplication: "L2 Cache Optimizations".
    const std::string triton = R"(lua:
        num_pid_in_group = 4 * tn
        group_id = pid // num_pid_in_group
        first_pid_m = group_id * 4
        group_size_m = min(tm - first_pid_m, 4)
        pid_m = first_pid_m + ((pid % num_pid_in_group) % group_size_m)
        pid_n = (pid % num_pid_in_group) // group_size_m
        return pid_m, pid_n)";
    for (const GridShape grid : {GridShape{8, 8}, GridShape{7, 3}, GridShape{1, 9}})
        CHECK(resolve_order(triton, grid) == make_order("group_m:4", grid));
}

TEST_CASE("An order that returns nothing launches a no-op CTA") {
    const TileSequence tiles = resolve_order("lua: if pid < 2 then return 0, pid end return", {2, 2});
    CHECK(tiles == TileSequence{{0, 0}, {0, 1}, kNoTile, kNoTile});
    CHECK(resolve_order("lua: return nil", {1, 1}) == TileSequence{kNoTile});
}

TEST_CASE("sms and xcds are the context's") {
    OrderContext context;
    context.sms = 7;
    context.xcds = 3;
    CHECK(resolve_order("lua: sms, xcds", {1, 1}, context) == TileSequence{{7, 3}});
}

TEST_CASE("What a Lua order does wrong is one line") {
    CHECK_THAT(order_error("lua: return pid"), ContainsSubstring("pid 0 returns 1 value"));
    CHECK_THAT(order_error("lua: return 1, 2, 3"), ContainsSubstring("returns 3 values"));
    CHECK_THAT(order_error("lua: return pid, 0.5"), ContainsSubstring("pid 0: the column is 0.5"));
    CHECK_THAT(order_error("lua: return 'a', 1"), ContainsSubstring("the row is a"));
    CHECK_THAT(order_error("lua: return 0/0, 1"),
               ContainsSubstring("the row is -nan") || ContainsSubstring("the row is nan"));
    CHECK_THAT(order_error("lua: return 1/0, 1"), ContainsSubstring("the row is inf"));
    CHECK_THAT(order_error("lua: return 1 << 40, 1"), ContainsSubstring("not a whole number of 32 bits"));
    CHECK_THAT(order_error("lua: return pid // (pid - 3), 1"), ContainsSubstring("lua order:1: attempt to "));
    CHECK_THAT(order_error("lua: return qid, 1"), ContainsSubstring("pid 0: the row is nil"));
    CHECK_THAT(order_error("lua: pid // tn, pid %"), ContainsSubstring("lua order:1:"));
    CHECK_THAT(order_error("lua: return os.time(), 1"), ContainsSubstring("'os'"));
    CHECK_THAT(order_error("lua:pid, pid", {65536, 65536}), ContainsSubstring("16777216 tiles"));
}

TEST_CASE("An endless order ends in time") {
    const auto begin = std::chrono::steady_clock::now();
    CHECK_THAT(order_error("lua: while true do end return 1, 1"), ContainsSubstring("runs too long"));
    CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 3);
}

TEST_CASE("A file lists tiles in launch order") {
    const TemporaryFile file(".txt", "# two by two\n1 1\n\n0 0  # the first\n\t-\r\n0\t1\r\n1 0");
    CHECK(resolve_order("file:" + file.path(), {2, 2}) ==
          TileSequence{{1, 1}, {0, 0}, kNoTile, {0, 1}, {1, 0}});
}

TEST_CASE("A file may be the table that order show prints") {
    const TemporaryFile file(".csv", "launch_id,row,column\n0,1,1\n1,0,0\n2,,\n3,0,1\n4,1,0\n");
    CHECK(resolve_order("file:" + file.path(), {2, 2}) ==
          TileSequence{{1, 1}, {0, 0}, kNoTile, {0, 1}, {1, 0}});
}

TEST_CASE("What is wrong in a file is named with its line") {
    const auto error = [](const std::string& content) {
        const TemporaryFile file(".txt", content);
        return order_error("file:" + file.path(), {2, 2});
    };
    CHECK_THAT(error("0 0\n0\n"), ContainsSubstring(".txt:2: write \"row column\""));
    CHECK_THAT(error("0 0\n0 1 2\n"), ContainsSubstring(".txt:2:"));
    CHECK_THAT(error("0 0\n# ok\n0 x\n"), ContainsSubstring(".txt:3:"));
    CHECK_THAT(error("0 99999999999\n"), ContainsSubstring(".txt:1:"));
    CHECK_THAT(error("0 0\n0 1\n1 0\n-\n"), ContainsSubstring("lists 3 tiles; a grid of 2 x 2 has 4"));
    CHECK_THAT(error(""), ContainsSubstring("lists 0 tiles"));
    CHECK_THAT(error("launch_id,row,column\n0,0,0\n2,0,1\n"),
               ContainsSubstring(".txt:3: launch id 1 is to follow"));
    CHECK_THAT(error("launch_id,row,column\n0,0\n"), ContainsSubstring(".txt:2: write"));
    CHECK_THAT(order_error("lua: local x = 1"), ContainsSubstring("returns no tile"));
    CHECK_THAT(order_error("file:/no/such/file"), ContainsSubstring("/no/such/file: cannot be opened"));
    CHECK_THAT(order_error("file:/tmp"), ContainsSubstring("is a folder"));
}

TEST_CASE("Lists of orders split at commas, except in lua: and file: values") {
    using List = std::vector<std::string>;
    CHECK(split_order_list({"group_m:8, hilbert", "morton"}) == List{"group_m:8", "hilbert", "morton"});
    CHECK(split_order_list({"lua: return a, b", "file:/a,b"}) == List{"lua: return a, b", "file:/a,b"});
    CHECK(split_order_list({"hilbert,hilbert", "hilbert"}) == List{"hilbert"});
    CHECK(split_order_list({}).empty());
    CHECK_THAT(test::complaint_of([] { split_order_list({"a,,b"}); }), ContainsSubstring("empty name"));
    CHECK_THAT(test::complaint_of([] { split_order_list({""}); }), ContainsSubstring("empty name"));

    const auto common = common_orders();
    CHECK(split_order_list({"common"}) == List(common.begin(), common.end()));
    CHECK(split_order_list({"common", common[0]}).size() == common.size());
    CHECK(split_order_list({"all"}).size() == order_catalogue().size());
}
