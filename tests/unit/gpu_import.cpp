// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's and rocprofv3's CSV files, as the tools write them.
#include <algorithm>

#include "support/catch.hpp"
#include "support/complaint.hpp"

#include "gpu/counters/csv_table.hpp"
#include "gpu/counters/ncu_csv.hpp"
#include "gpu/counters/rocprof_csv.hpp"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

const std::string kRawHeader =
    "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
    "Size\","
    "\"Grid Size\",\"Device\",\"CC\",\"dram__bytes_read.sum\",\"gpu__time_duration.sum\","
    "\"lts__t_sector_hit_rate.pct\",\"lts__t_sectors.sum\"\n";
const std::string kRawUnits =
    "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"Mbyte\",\"us\",\"%\",\"sector\"\n";

std::string raw_row(const std::string& id, const std::string& values) {
    return "\"" + id +
           "\",\"42\",\"app\",\"127.0.0.1\",\"gemm<128, 128>(Args)\",\"1\",\"7\",\"(288, 1, 1)\",\"(64, 64, "
           "1)\",\"0\","
           "\"9.0\"," +
           values + "\n";
}

}  // namespace

TEST_CASE("the raw page of Nsight Compute gives a launch a row, in base units") {
    const std::string text =
        "hello from the program\n==PROF== Connected to process 42 (/bin/app)\n" + kRawHeader + kRawUnits +
        raw_row("0", "\"4,364.74\",\"1,758.46\",\"57.20\",\"565,970,710\"") +
        raw_row("1", "\"n/a\",\"2.50\",\"\",\"7\"") + "==PROF== Disconnected from process 42\n";
    const auto launches = parse_ncu_csv("run.csv", text);
    REQUIRE(launches.size() == 2);
    CHECK(launches[0].kernel == "gemm<128, 128>(Args)");
    CHECK(launches[0].grid == std::array<std::int64_t, 3>{64, 64, 1});
    CHECK(launches[0].block == std::array<std::int64_t, 3>{288, 1, 1});
    CHECK(launches[0].line == 5);
    CHECK(launches[0].metrics.at("dram__bytes_read.sum") == Approx(4364.74e6));
    CHECK(launches[0].metrics.at("gpu__time_duration.sum") == Approx(1758460));
    CHECK(launches[0].metrics.at("lts__t_sector_hit_rate.pct") == Approx(57.2));
    CHECK(launches[0].metrics.at("lts__t_sectors.sum") == 565970710);
    CHECK(launches[1].metrics.count("dram__bytes_read.sum") == 0);
    CHECK(launches[1].metrics.count("lts__t_sector_hit_rate.pct") == 0);
    CHECK(launches[1].metrics.at("gpu__time_duration.sum") == Approx(2500));
}

TEST_CASE("Nsight Compute's list of metrics gives the same launches") {
    const std::string header =
        "\"ID\",\"Process ID\",\"Process Name\",\"Host Name\",\"Kernel Name\",\"Context\",\"Stream\",\"Block "
        "Size\",\"Grid Size\",\"Device\",\"CC\",\"Section Name\",\"Metric Name\",\"Metric Unit\",\"Metric "
        "Value\"\n";
    auto row = [](const std::string& id, const std::string& metric, const std::string& unit,
                  const std::string& value) {
        return "\"" + id +
               "\",\"42\",\"app\",\"127.0.0.1\",\"saxpy\",\"1\",\"7\",\"(256, 1, 1)\",\"(16384, 1, "
               "1)\",\"0\",\"9.0\","
               "\"Command line profiler metrics\",\"" +
               metric + "\",\"" + unit + "\",\"" + value + "\"\n";
    };
    const auto launches = parse_ncu_csv(
        "list.csv", header + row("0", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%", "n/a") +
                        row("0", "gpu__time_duration.sum", "us", "211.94") +
                        row("0", "Duration", "us", "211.94") +
                        row("1", "gpu__time_duration.sum", "ms", "1.5"));
    REQUIRE(launches.size() == 2);
    CHECK(launches[0].metrics.size() == 1);
    CHECK(launches[0].metrics.at("gpu__time_duration.sum") == Approx(211940));
    CHECK(launches[1].metrics.at("gpu__time_duration.sum") == Approx(1.5e6));
}

// The units Nsight Compute prints with --print-units auto and base.
TEST_CASE("units of Nsight Compute are scaled to bytes, nanoseconds and per second") {
    CHECK(ncu_unit_factor("byte") == 1);
    CHECK(ncu_unit_factor("Gbyte") == 1e9);
    CHECK(ncu_unit_factor("usecond") == 1e3);
    CHECK(ncu_unit_factor("s") == 1e9);
    CHECK(ncu_unit_factor("Ghz") == 1e9);
    CHECK(ncu_unit_factor("Gbyte/second") == 1e9);
    CHECK(ncu_unit_factor("cycle/nsecond") == 1e9);
    CHECK(ncu_unit_factor("inst/cycle") == 1);
    CHECK(ncu_unit_factor("") == 1);
    CHECK(ncu_unit_factor("sector") == 1);
    CHECK(ncu_unit_factor("byte/block") == 1);
    CHECK(ncu_unit_factor("Kbyte/ms") == 1e6);
}

TEST_CASE("counts are scaled by powers of 1000, and bytes by those of 1000 or 1024 as their prefix says") {
    CHECK(ncu_unit_factor("Ksector") == 1e3);
    CHECK(ncu_unit_factor("Msector") == 1e6);
    CHECK(ncu_unit_factor("Gsector") == 1e9);
    CHECK(ncu_unit_factor("Mrequest") == 1e6);
    CHECK(ncu_unit_factor("Kcycle") == 1e3);
    CHECK(ncu_unit_factor("Msector/s") == 1e6);
    CHECK(ncu_unit_factor("inst/Kcycle") == 1e-3);
    CHECK(ncu_unit_factor("Kbyte") == 1000);
    CHECK(ncu_unit_factor("KiB") == 1024);
    CHECK(ncu_unit_factor("Mibyte") == 1024 * 1024);
    CHECK(ncu_unit_factor("MiB") == 1024 * 1024);
    CHECK(ncu_unit_factor("GiB/s") == 1024.0 * 1024 * 1024);
    // What no prefix goes with stands for itself.
    CHECK(ncu_unit_factor("Misector") == 1);
    CHECK(ncu_unit_factor("Kms") == 1);
    CHECK(ncu_unit_factor("Mblock") == 1);

    const std::string units =
        "\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"\",\"MiB\",\"ms\",\"%\",\"Msector\"\n";
    const auto launches = parse_ncu_csv(
        "a.csv", kRawHeader + units + raw_row("0", "\"4,162.5\",\"1.75846\",\"57.20\",\"565.970710\""));
    REQUIRE(launches.size() == 1);
    CHECK(launches[0].metrics.at("dram__bytes_read.sum") == 4162.5 * 1024 * 1024);
    CHECK(launches[0].metrics.at("gpu__time_duration.sum") == Approx(1'758'460));
    CHECK(launches[0].metrics.at("lts__t_sectors.sum") == Approx(565'970'710));
}

TEST_CASE("a broken Nsight Compute file is refused with its line and column") {
    const std::string start = kRawHeader + kRawUnits;
    CHECK(test::complaint_of([&] { parse_ncu_csv("a.csv", "no table here\n"); }) ==
          "a.csv: no table found: no line begins with the column 'ID'");
    CHECK(test::complaint_of([&] {
              parse_ncu_csv("a.csv", start + raw_row("0", "\"1\",\"2\",\"3\",\"many\""));
          }) == "a.csv:3: column 'lts__t_sectors.sum': 'many' is not a number");
    CHECK(test::complaint_of([&] { parse_ncu_csv("a.csv", start + raw_row("0", "\"1\",\"2\",\"3\"")); }) ==
          "a.csv:3: 14 cells under a header of 15");
    CHECK(test::complaint_of([&] {
              parse_ncu_csv("a.csv", kRawHeader + raw_row("0", "\"1\",\"2\",\"3\",\"4\""));
          }) == "a.csv: no row of units below the header; is this `ncu --csv --page raw`?");
    CHECK(test::complaint_of([&] { parse_ncu_csv("a.csv", start + "\"0\",\"42"); }) ==
          "a.csv:3: a quote is never closed");
}

TEST_CASE("launches that Nsight Compute itself exported are read whole") {
    // Written on an H200 by `ncu --csv --page raw --set none --metrics ...` over this project's own GEMM.
    const auto launches = read_ncu_csv(L2LENS_SOURCE_DIR "/tests/unit/fixtures/ncu_raw.csv");
    REQUIRE(launches.size() == 2);
    for (const ImportedLaunch& launch : launches) {
        CHECK_THAT(launch.kernel, ContainsSubstring("gemm_kernel"));
        CHECK(launch.grid == std::array<std::int64_t, 3>{64, 1, 1});
        CHECK(launch.block == std::array<std::int64_t, 3>{160, 1, 1});
        // A and B are read once each from DRAM, whatever the order: 2 x 1024 x 1024 bf16 elements.
        CHECK(launch.metrics.at("dram__bytes_read.sum") == Approx(4.19e6).epsilon(0.05));
        CHECK(launch.metrics.at("lrc__request_sectors_op_read_coalescable.sum") ==
              Approx(2.0 * 8 * 1024 * 1024 * 2 / 32).epsilon(0.01));
    }
    // As they stand in the file, in sectors and nanoseconds.
    CHECK(launches[0].metrics.at("lts__t_sectors.sum") == 933'744);
    CHECK(launches[1].metrics.at("lts__t_sectors.sum") == 904'473);
    CHECK(launches[0].metrics.at("gpu__time_duration.sum") == 9'568);
    CHECK(launches[1].metrics.at("gpu__time_duration.sum") == 10'496);
}

namespace {
const std::string kRocprofHeader =
    "\"Correlation_Id\",\"Dispatch_Id\",\"Agent_Id\",\"Queue_Id\",\"Process_Id\",\"Thread_Id\",\"Grid_Size\","
    "\"Kernel_"
    "Id\",\"Kernel_Name\",\"Workgroup_Size\",\"LDS_Block_Size\",\"Scratch_Size\",\"VGPR_Count\",\"Accum_VGPR_"
    "Count\","
    "\"SGPR_Count\",\"Counter_Name\",\"Counter_Value\",\"Start_Timestamp\",\"End_Timestamp\"\n";

std::string dispatch_row(int dispatch, const std::string& kernel, const std::string& counter,
                         const std::string& value) {
    return "1," + std::to_string(dispatch) + ",\"Agent 5\",1,20,20,1048576,9,\"" + kernel +
           "\",256,0,0,12,4,16,\"" + counter + "\"," + value + ",1000,3500\n";
}
}  // namespace

TEST_CASE("counters of a rocprofv3 dispatch come together") {
    const auto launches = parse_rocprof_csv(
        "counters.csv", kRocprofHeader + dispatch_row(1, "gemm(float*)", "TCC_HIT_sum", "4096") +
                            dispatch_row(2, "copy", "TCC_HIT_sum", "7") +
                            dispatch_row(1, "gemm(float*)", "TCC_MISS_sum", "1.5e+03"));
    REQUIRE(launches.size() == 2);
    CHECK(launches[0].kernel == "gemm(float*)");
    CHECK(launches[0].grid[0] == 1048576);
    CHECK(launches[0].block[0] == 256);
    CHECK(launches[0].metrics == std::map<std::string, double>{
                                     {"TCC_HIT_sum", 4096}, {"TCC_MISS_sum", 1500}, {"duration_ns", 2500}});
    CHECK(launches[1].metrics.at("TCC_HIT_sum") == 7);
}

TEST_CASE("passes of rocprofv3 join by their order") {
    const auto one = parse_rocprof_csv("1.csv", kRocprofHeader + dispatch_row(1, "gemm", "TCC_HIT_sum", "1"));
    const auto two =
        parse_rocprof_csv("2.csv", kRocprofHeader + dispatch_row(1, "gemm", "TCC_MISS_sum", "2"));
    const auto merged = merge_rocprof_passes({one, two});
    REQUIRE(merged.size() == 1);
    CHECK(merged[0].metrics.at("TCC_HIT_sum") == 1);
    CHECK(merged[0].metrics.at("TCC_MISS_sum") == 2);
    const auto other =
        parse_rocprof_csv("3.csv", kRocprofHeader + dispatch_row(1, "copy", "TCC_REQ_sum", "2"));
    CHECK(test::complaint_of([&] {
              merge_rocprof_passes({one, other});
          }) == "dispatch 1 is 'gemm' in pass 1 and 'copy' in pass 2");
}

TEST_CASE("a broken rocprofv3 file is refused with its line and column") {
    CHECK(test::complaint_of([&] {
              parse_rocprof_csv("c.csv", kRocprofHeader + dispatch_row(1, "gemm", "TCC_HIT_sum", "1") +
                                             dispatch_row(1, "gemm", "TCC_HIT_sum", "1"));
          }) == "c.csv:3: column 'Counter_Name': 'TCC_HIT_sum' is given twice for dispatch 1");
    CHECK(test::complaint_of([&] {
              parse_rocprof_csv("c.csv", kRocprofHeader + dispatch_row(1, "gemm", "TCC_HIT_sum", "1") +
                                             dispatch_row(1, "copy", "TCC_MISS_sum", "1"));
          }) == "c.csv:3: column 'Kernel_Name': dispatch 1 was 'gemm' on line 2");
    CHECK(test::complaint_of([&] {
              parse_rocprof_csv("c.csv", kRocprofHeader + dispatch_row(1, "gemm", "x", "lots"));
          }) == "c.csv:2: column 'Counter_Value': 'lots' is not a number");
    CHECK_THAT(test::complaint_of([&] { parse_rocprof_csv("c.csv", "Correlation_Id,Dispatch_Id\n1,1\n"); }),
               ContainsSubstring("c.csv: no column 'Kernel_Name'"));
}

TEST_CASE("a CSV cell may hold quotes, commas and line ends") {
    const CsvTable table("t.csv", "ID,text\r\n1,\"a \"\"b\"\", c\nd\"\r\n2,\n", {"ID"});
    REQUIRE(table.rows().size() == 2);
    CHECK(table.rows()[0].cells[1] == "a \"b\", c\nd");
    CHECK(table.rows()[1].line == 4);
    CHECK(table.rows()[1].cells[1].empty());
}
