// SPDX-License-Identifier: Apache-2.0
// The parts of gpu/ that need no GPU: how readings become a hash, a report a machine file, an order a table.
#include <algorithm>
#include <bit>
#include <random>

#include "base/error.hpp"
#include "load/machine_file.hpp"
#include "support/catch.hpp"

#include "gpu/counters/metric_names.hpp"
#include "gpu/counters/statistics.hpp"
#include "gpu/device.hpp"
#include "gpu/live/live_csv.hpp"
#include "gpu/live/live_params.hpp"
#include "gpu/live/order_table.hpp"
#include "gpu/probe/parity.hpp"
#include "gpu/probe/report.hpp"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

bool parity(std::uint64_t bits) {
    return std::popcount(bits) % 2 != 0;
}

// Side of random lines within 2 MiB under a mask, with every `liar`-th sample wrong (0: none).
Sided sided_by(std::uint64_t mask, bool constant, int count, int liar, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    Sided samples;
    for (int i = 0; i < count; ++i) {
        const std::uint64_t offset = random() % (2 << 20) / 128 * 128;
        const bool wrong = liar != 0 && i % liar == 0;
        samples.emplace_back(offset, parity(offset & mask) != constant != wrong);
    }
    return samples;
}

}  // namespace

// The masks published for the GH200, the H100, the A100 and the GB200 (github.com/ademeure/cuda-side-boost).
TEST_CASE("a home mask is recovered from near and far addresses") {
    const auto mask = GENERATE(as<std::uint64_t>{}, 0x0AB000, 0x0B3000, 0x122000, 0x1EF000);
    const auto constant = GENERATE(false, true);
    const auto rule = solve_parity(sided_by(mask, constant, 200, 0, 5), (2 << 20) - 128);
    REQUIRE(rule);
    CHECK(rule->mask == mask);
    CHECK(rule->constant == constant);
    CHECK(rule->agreement == 1);
}

TEST_CASE("a few wrong readings do not change the mask") {
    // 2 % wrong: a random system of 15 equations is clean with a probability of 0.98^15 = 0.74.
    const auto rule = solve_parity(sided_by(0x0AB000, true, 400, 50, 11), (2 << 20) - 128);
    REQUIRE(rule);
    CHECK(rule->mask == 0x0AB000);
    CHECK(rule->agreement == Approx(0.98));
}

TEST_CASE("sides that no parity explains give no mask") {
    std::mt19937_64 random(3);
    Sided samples;
    for (int i = 0; i < 400; ++i) samples.emplace_back(random() % (2 << 20) / 128 * 128, random() % 2 != 0);
    CHECK_FALSE(solve_parity(samples, (2 << 20) - 128));
}

namespace {

// Pages first, first + 1, ... of memory whose sides are the parity of `mask`.
std::vector<bool> sides_of(std::uint64_t mask, bool constant, std::uint64_t first, std::size_t pages) {
    std::vector<bool> sides;
    for (std::uint64_t page = first; page < first + pages; ++page)
        sides.push_back(parity(page & mask) != constant);
    return sides;
}

}  // namespace

TEST_CASE("the sides of neighbouring pages tell the high bits of a mask, wherever the first page lies") {
    // Address bits 21, 22, 24, 26 to 29, 31 and 34 to 36: what an H200 showed over 120 GiB from its 270th
    // page on.
    constexpr std::uint64_t kMask = 0xE5EB;
    for (const std::uint64_t first : {0u, 270u, 1423u}) {
        const auto rule = solve_pages(sides_of(kMask, first % 2 != 0, first, 61440), 71885);
        REQUIRE(rule);
        CHECK(rule->pages == 61440);
        CHECK(rule->mask == kMask);
        CHECK(rule->unclear == (first + 61440 <= 65536 ? 0x10000 : 0));  // the bit that no page has
    }
}

TEST_CASE("pages that are no neighbours cut the stretch, and its high bits stay open") {
    constexpr std::uint64_t kMask = 0xE5EB;
    auto sides = sides_of(kMask, false, 96, 1024);
    const auto elsewhere = sides_of(kMask, true, 40000, 1024);
    sides.insert(sides.end(), elsewhere.begin(), elsewhere.end());
    const auto rule = solve_pages(sides, 71885);
    REQUIRE(rule);
    CHECK(rule->pages == 1024);
    CHECK((rule->mask & ~kMask) == 0);
    CHECK(((rule->mask ^ kMask) & ~rule->unclear) == 0);
    CHECK((rule->unclear >> 11) == 0x3F);
}

TEST_CASE("pages whose sides follow no mask give no rule") {
    std::mt19937_64 random(8);
    std::vector<bool> sides;
    for (int page = 0; page < 4096; ++page) sides.push_back(random() % 2 != 0);
    CHECK_FALSE(solve_pages(sides, 5000));
}

TEST_CASE("near and far latencies are told apart, one broad level is not cut in two") {
    std::mt19937_64 random(17);
    std::normal_distribution<double> noise(0, 15);
    std::vector<double> two;
    std::vector<double> one;
    for (int i = 0; i < 64; ++i) {
        two.push_back((i % 2 == 0 ? 305 : 505) + noise(random));
        one.push_back(305 + 3 * noise(random));
    }
    const TwoLevels levels = split_levels(two);
    CHECK(levels.distinct);
    CHECK(levels.low == Approx(305).margin(10));
    CHECK(levels.high == Approx(505).margin(10));
    CHECK(levels.threshold > 350);
    CHECK(levels.threshold < 460);
    CHECK_FALSE(split_levels(one).distinct);
}

TEST_CASE("a probe's report becomes a machine file that reads back") {
    const Machine base = load_machine(L2LENS_SOURCE_DIR "/models/gpus/h200.toml");
    ProbeReport report;
    report.description = "a GPU of \"tests\"";
    report.chip = "GH100";
    report.readings = {{"l2.slices_per_partition", "40", "counted", Confidence::Measured},
                       {"hash.home_masks", "[[12, 13, 16]]", "solved", Confidence::Measured},
                       {"bandwidth.dram", "3210.5", "read", Confidence::Measured}};
    report.undetermined = {"l2.ways: no counter shows a set"};
    const std::string text = machine_toml(report, base);
    INFO(text);
    const Machine machine = parse_machine(text, "probed.toml");
    CHECK(machine.description == report.description);
    CHECK(machine.l2.slices_per_partition == 40);
    CHECK(machine.hash.home_masks == std::vector<std::uint64_t>{0x13000});
    CHECK(machine.bandwidth.dram_bytes_per_ns == 3210.5);
    CHECK(machine.sms.size() == base.sms.size());
    CHECK(machine.latency.tag_ns == base.latency.tag_ns);
    for (const Parameter& parameter : machine.parameters) {
        const bool read = report.find(parameter.key) != nullptr;
        CHECK(parameter.confidence == (read ? Confidence::Measured : Confidence::Inferred));
        if (!read) CHECK_THAT(parameter.source, ContainsSubstring("not measured here; as h200: "));
    }
    CHECK_THAT(text, ContainsSubstring("# Not determined: l2.ways"));
}

TEST_CASE("a lower bound keeps the base's value when that respects it and the chip is the same") {
    const Machine base = load_machine("h200");
    const auto output_of = [&](const std::string& chip, const std::string& bound) {
        ProbeReport report;
        report.description = "a GPU";
        report.chip = chip;
        report.readings.push_back({"bandwidth.output", bound, "reads", Confidence::Measured, true});
        return parse_machine(machine_toml(report, base), "probed.toml").bandwidth.output_sectors_per_l2_cycle;
    };
    const double value = base.bandwidth.output_sectors_per_l2_cycle;
    CHECK(output_of(base.chip, std::to_string(value - 0.5)) == value);
    CHECK(output_of(base.chip, std::to_string(value + 0.5)) == Approx(value + 0.5));
    CHECK(output_of("GA100", std::to_string(value - 0.5)) == Approx(value - 0.5));
}

TEST_CASE("an order becomes a table of packed tiles") {
    const LiveShape shape{{}, {2, 3}, 1, 1};
    const TileSequence order{{1, 2}, {0, 0}, kNoTile, {0, 1}, {0, 2}, {1, 0}, {1, 1}};
    CHECK(pack_order(order, shape) ==
          std::vector<std::uint32_t>{0x10002, 0, kNoTilePacked, 1, 2, 0x10000, 0x10001});
    const TileSequence lossy{{0, 0}, {0, 1}};
    CHECK_THROWS_WITH(pack_order(lossy, shape), ContainsSubstring("not a bijection"));
}

TEST_CASE("clusters take pairs of tiles, and give a lone tile a partner outside the matrix") {
    const LiveShape columns{{}, {3, 1}, 2, 1};
    const TileSequence down{{0, 0}, {1, 0}, {2, 0}, kNoTile};
    CHECK(pack_order(down, columns) == std::vector<std::uint32_t>{0, 0x10000, 0x20000, 0x30000});
    const TileSequence odd{{0, 0}, {1, 0}, {2, 0}};
    CHECK(pack_order(odd, columns).size() == 4);
    const LiveShape rows{{}, {2, 2}, 1, 2};
    const TileSequence crossed{{0, 0}, {1, 0}, {0, 1}, {1, 1}};
    CHECK_THROWS_WITH(pack_order(crossed, rows),
                      "tiles (0, 0) and (1, 0) cannot form a cluster of 1x2: they lie in different rows");
}

TEST_CASE("a kernel's parameters are read strictly") {
    LiveParams params("gemm", {{"m", "4096"}, {"layout", "tt"}});
    CHECK(params.integer("m", 8192) == 4096);
    CHECK(params.integer("n", 8192) == 8192);
    CHECK(params.choice("layout", "tn", {"tn", "tt"}) == "tt");
    CHECK(params.finish() == ParamList{{"m", "4096"}, {"n", "8192"}, {"layout", "tt"}});

    LiveParams misspelt("gemm", {{"stage", "4"}});
    misspelt.integer("stages", 4);
    CHECK_THROWS_WITH(misspelt.finish(), "gemm has no parameter 'stage' on the GPU; did you mean 'stages'?");
    LiveParams odd("gemm", {{"m", "-3"}, {"n", "8k"}});
    CHECK_THROWS_WITH(odd.integer("m", 1), "gemm: m=-3 is not a whole number of at least 1");
    CHECK_THROWS_WITH(odd.integer("n", 1), "gemm: n=8k is not a whole number of at least 1");
}

TEST_CASE("a live result is a row of a recorded file") {
    LiveResult result;
    result.shape.params = {{"m", "64"}};
    result.ctas_per_sm = 2;
    result.time_us = 1.5;
    result.counters = {{"lts__t_sectors.sum", 1e9, 1e9, 1e9}, {"lts__t_sector_hit_rate.pct", 57.2, 57, 58}};
    std::ostringstream out;
    write_live_header(out, result);
    write_live_row(out, {"gemm", {}}, LaunchMode::Static, "lua: return pid // tn, pid % tn", result);
    CHECK(out.str() ==
          "kernel,m,ctas_per_sm,mode,order,time_us,lts__t_sectors.sum,lts__t_sector_hit_rate.pct\n"
          "gemm,64,2,static,\"lua: return pid // tn, pid % tn\",1.50,1000000000,57.20\n");
    CHECK_THROWS_WITH(parse_launch_mode("statc"), ContainsSubstring("did you mean 'static'?"));
}

TEST_CASE("a recorded schedule leaves out launch ids that never ran") {
    LiveResult result;
    result.schedule = {{0, 5, 0, 100}, {-1, -1, -1, -1}, {2, 7, 32, 96}};
    std::ostringstream out;
    write_schedule_header(out);
    write_schedule(out, "group_m:8_grid", result);
    CHECK(out.str() ==
          "run,launch_id,sm,start_ns,end_ns\ngroup_m:8_grid,0,5,0,100\ngroup_m:8_grid,2,7,32,96\n");
}

TEST_CASE("a parameter left to the kernel is reported as the kernel settled it") {
    LiveParams params("gemm", {{"warps", "0"}});
    CHECK(params.small_integer_or_auto("warps") == 0);
    CHECK(params.small_integer_or_auto("stages") == 0);
    params.settle("warps", 4);
    params.settle("stages", 3);
    CHECK(params.finish() == ParamList{{"warps", "4"}, {"stages", "3"}});
}

// CUPTI answers without a GPU; where it is not installed there is nothing to ask.
TEST_CASE("misspelt metrics are found before anything runs") {
    try {
        supported_chips();
    } catch (const Unavailable& missing) {
        WARN(missing.what());
        SUCCEED();
        return;
    }
    const auto names = metrics_of_chip("GH100");
    CHECK(std::binary_search(names.begin(), names.end(), "lts__t_sectors"));
    const auto recorded = recorded_metrics("GH100");
    CHECK(recorded.size() == 49);  // the counters of traces/h200/gemm.csv
    CHECK_NOTHROW(check_metric_names("GH100", recorded));
    auto check = [](const std::string& chip, const std::string& metric) {
        const std::string one[] = {metric};
        check_metric_names(chip, one);
    };
    CHECK_THROWS_WITH(check("GH100", "lts__t_sector.sum"),
                      "GH100 has no metric 'lts__t_sector'; did you mean 'lts__t_sectors'?");
    CHECK_THROWS_WITH(check("GH100", "lts__t_sectors"),
                      "metric 'lts__t_sectors' needs a roll-up, as in 'lts__t_sectors.sum'");
    CHECK_THROWS_WITH(check("GH100", "lts__t_sectors.summ"), ContainsSubstring("did you mean '.sum'?"));
    CHECK_THROWS_WITH(check("GH10", "lts__t_sectors.sum"), ContainsSubstring("did you mean 'GH100'?"));
    // No fabric and no coalescer on a V100.
    CHECK_THROWS_AS(check("GV100", "lrc__xbar2lrc_requests.sum"), BadInput);
}

TEST_CASE("the median of an even number of readings lies between the middle two") {
    CHECK(median({3, 1, 2}) == 2);
    CHECK(median({4, 1, 3, 2}) == 2.5);
    CHECK(median({7}) == 7);
}

// /proc/driver/nvidia/params and /proc/self/status as Linux writes them.
TEST_CASE("permission to read counters is taken from what the kernel says") {
    CHECK(counters_need_administrator("ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: 1\nX: 0\n") ==
          true);
    CHECK(counters_need_administrator("RmProfilingAdminOnly: 0\nOther: 1\n") == false);
    CHECK_FALSE(counters_need_administrator("Other: 1\n").has_value());
    CHECK(has_sys_admin("Name:\tx\nCapEff:\t000001ffffffffff\n"));
    CHECK_FALSE(has_sys_admin("CapEff:\t0000000000000000\n"));
    CHECK_FALSE(has_sys_admin("CapEff:\t00000000a80425fb\n"));  // Docker's default set
    CHECK_FALSE(has_sys_admin(""));
}

TEST_CASE("a machine without a GPU is described, not failed on") {
    const DeviceReport report = inspect_device();
    if (!report.gpus.empty()) {
        CHECK(report.gpus.front().sms > 0);
        return;
    }
    CHECK_FALSE(report.can_read_counters());
    REQUIRE_FALSE(report.findings.empty());
    CHECK_FALSE(report.findings.front().remedy.empty());
    CHECK_THROWS_AS(require_gpu(), Unavailable);
    CHECK_THROWS_AS(require_counters(), Unavailable);
}
