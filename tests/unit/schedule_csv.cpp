// SPDX-License-Identifier: Apache-2.0
// Schedule files: what is written reads back, and each way a file can be wrong is named with its line.
#include "report/schedule_csv.hpp"

#include "support/catch.hpp"
#include "support/complaint.hpp"

using namespace l2lens;

namespace {

constexpr const char* kHeader = "run,launch_id,sm,start_ns,end_ns\n";
const std::vector<std::int32_t> kThree{2, -1, 0};  // launch id 1 is a no-op CTA

Machine four_sms() {
    Machine machine;
    machine.name = "four";
    machine.sms.resize(4);
    return machine;
}

std::string complaint(const std::string& text) {
    return test::complaint_of([&] {
        for (const RecordedRun& run : read_schedule_csv(text, "s.csv")) schedule_of(run, kThree, four_sms());
    });
}

}  // namespace

TEST_CASE("A schedule that is written reads back, to the picosecond, without its no-op CTAs") {
    const LaunchSchedule schedule{{3, 1, 1234567}, {}, {0, 0, 5000000000}};
    const std::string name = schedule_run_name("group_m:8", Mode::Grid);
    CHECK(name == "group_m:8_grid");
    const std::string text = schedule_csv_header() + schedule_csv(name, schedule);
    CHECK(text == std::string(kHeader) + "group_m:8_grid,0,3,0.001,1234.567\ngroup_m:8_grid,2,0,0,5000000\n");
    const auto runs = read_schedule_csv(text, "s.csv");
    REQUIRE(runs.size() == 1);
    CHECK(runs[0].name == name);
    const LaunchSchedule back = schedule_of(runs[0], kThree, four_sms());
    REQUIRE(back.size() == 3);
    CHECK(back[1].sm == -1);
    for (const std::size_t id : {0u, 2u}) {
        CHECK(back[id].sm == schedule[id].sm);
        CHECK(back[id].start == schedule[id].start);
        CHECK(back[id].end == schedule[id].end);
    }
}

TEST_CASE("Columns may come in any order, runs one after another, times from any zero") {
    const auto runs = read_schedule_csv(
        "launch_id,run,end_ns,start_ns,sm\n0,\"lua: return a, b_grid\",300,200,1\n2,\"lua: return a, "
        "b_grid\",400,150,2\n7,other,1,0,0\n",
        "s.csv");
    REQUIRE(runs.size() == 2);
    CHECK(runs[0].name == "lua: return a, b_grid");
    CHECK(runs[1].line == 4);
    const LaunchSchedule schedule = schedule_of(runs[0], kThree, four_sms());
    CHECK(schedule[0].start == from_ns(50));  // launch id 2 began first
    CHECK(schedule[2].start == 0);
    CHECK(schedule[2].end == from_ns(250));
}

TEST_CASE("Each wrong schedule is refused with its line") {
    const std::string head = kHeader;
    CHECK(complaint(head + "r,0,0,0,1\nr,2,1,0,1\n").empty());
    CHECK(complaint(head + "r,0,0,0,1\nr,2,4,0,1\n") == "s.csv:3: SM 4, but four has 0 to 3");
    CHECK(complaint(head + "r,0,0,0,1\nr,2,1,0,1\nr,0,2,5,6\n") ==
          "s.csv:4: launch id 0 of run 'r' is there twice, first in line 2");
    CHECK(complaint(head + "r,0,0,0,1\n") == "s.csv:2: run 'r' has no launch id 2; a replay needs all 3");
    CHECK(complaint(head + "r,0,0,0,1\nr,3,1,0,1\n") == "s.csv:3: launch id 3, but the launch has 0 to 2");
    CHECK(complaint(head + "r,0,0,10,9\n") == "s.csv:2: launch id 0 ends at 9 ns, before its start at 10 ns");
    CHECK(complaint("run,launch_id,sm,start,end_ns\nr,0,0,0,1\n") ==
          "s.csv:1: column 'start' is not of a schedule; there are: run launch_id sm start_ns end_ns");
    CHECK(complaint("run,launch_id,sm,start_n,end_ns\nr,0,0,0,1\n") ==
          "s.csv:1: column 'start_n' is not of a schedule; did you mean 'start_ns'?");
    CHECK(complaint("run,launch_id,sm,end_ns\nr,0,0,1\n") == "s.csv:1: no column 'start_ns'");
    CHECK(complaint(head + "r,0,0,5,5\nr,2,1,5,5\n") == "s.csv:2: run 'r' takes no time");
    CHECK(complaint(head) == "s.csv: a header but no rows");
    CHECK(complaint(head + "r,0,0,0\n") ==
          "s.csv:2: 4 fields, but the header names 5 columns ('end_ns' is the first one missing)");
    CHECK(complaint(head + "r,zero,0,0,1\n") == "s.csv:2: column 'launch_id': 'zero' is not a number");
    CHECK(complaint(head + "r,0.5,0,0,1\n") == "s.csv:2: column 'launch_id': '0.5' is not a whole number");
    CHECK(complaint(head + "r,-1,0,0,1\n") ==
          "s.csv:2: column 'launch_id': -1 is not between 0 and 16777216");
    CHECK(complaint(head + "r,0,0,nan,1\n") == "s.csv:2: column 'start_ns': 'nan' is not a number");
    CHECK(complaint(head + "r,0,0,0,2e9\n") ==
          "s.csv:2: column 'end_ns': 2e9 is not between 0 and 1000000000");
}
