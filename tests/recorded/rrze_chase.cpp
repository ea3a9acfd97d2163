// SPDX-License-Identifier: Apache-2.0
// Where the latency of a dependent chase by one warp rises, against published readings: gpu-latency (formerly
// cuda-latency) of github.com/RRZE-HPC/gpu-benches.
//
// A chase on a GPU with two partitions has three plateaus: hits in the own partition; near-homed lines from
// DRAM and far-homed ones from the home partition; all from DRAM. A knee is the size at which the latency has
// gone a tenth of the way from one plateau to the next, its middle the size at half of the way, between
// readings on a straight line. Neither depends on the part of a latency that all loads share. The model's
// machines are read at these sizes as shipped: nothing in them was fitted to these knees but the capacity.
#include <cmath>
#include <string>
#include <vector>

#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/chase.hpp"

using namespace l2lens;

namespace {

struct Reading {
    double kib;
    double latency;
};
using Curve = std::vector<Reading>;

// The size at which `curve` first passes `share` of the way from one plateau to the next.
double size_at(const Curve& curve, double from, double to, double share) {
    const double level = from + share * (to - from);
    for (std::size_t i = 1; i < curve.size(); ++i) {
        const Reading& below = curve[i - 1];
        const Reading& above = curve[i];
        if (above.latency < level) continue;
        return below.kib +
               (above.kib - below.kib) * (level - below.latency) / (above.latency - below.latency);
    }
    FAIL("the latency never reaches " << level);
    return 0;
}

struct Rise {
    double knee;
    double middle;
};

Rise rise(const Curve& curve, double from, double to) {
    return {size_at(curve, from, to, 0.1), size_at(curve, from, to, 0.5)};
}

double off_percent(double simulated, double published) {
    return 100 * (simulated / published - 1);
}

// Two lanes see their share of every size.
double chased(const Machine& machine, double kib) {
    const std::vector<int> lanes{0, machine.l2.slices_per_partition / 2};
    return test::chase(machine, lanes, static_cast<std::int64_t>(kib) * 1024).latency_ns;
}

Curve chased(const Machine& machine, const std::vector<double>& shares_of_a_partition) {
    Curve curve;
    for (const double share : shares_of_a_partition) {
        const double kib = std::floor(share * static_cast<double>(machine.partition_bytes()) / 1024);
        curve.push_back({kib, chased(machine, kib)});
    }
    return curve;
}

// Sizes around the end of a partition, and of two.
const std::vector<double> kFirst{0.6, 0.9, 0.94, 0.97, 1, 1.02, 1.04, 1.07, 1.1, 1.15, 1.2};
const std::vector<double> kSecond{1.7, 1.9, 1.95, 2, 2.05, 2.1, 2.15, 2.2, 2.3, 2.4};

// Published and simulated cycles or nanoseconds of one GPU, about each rise.
struct Published {
    std::string machine;
    Curve first;
    double near, middle;
    Curve second;
    double dram;
};

void compare_first(const Published& published, double within_percent) {
    const Machine machine = load_machine(published.machine);
    const Rise theirs = rise(published.first, published.near, published.middle);
    const Curve curve = chased(machine, kFirst);
    const double share = machine.partitions == 1 ? 3 : 1.6;  // where the next plateau is
    const double next = chased(machine, share * static_cast<double>(machine.partition_bytes()) / 1024);
    const Rise ours = rise(curve, curve.front().latency, next);
    INFO(published.machine << ": knee " << ours.knee << " KiB, published " << theirs.knee << "; middle "
                           << ours.middle << ", published " << theirs.middle);
    CHECK(std::abs(off_percent(ours.knee, theirs.knee)) < within_percent);
    CHECK(std::abs(off_percent(ours.middle, theirs.middle)) < within_percent);
}

// The knees, and how far the middle may lie off.
void compare_second(const Published& published, double knee_within, double middle_within) {
    const Machine machine = load_machine(published.machine);
    const Rise theirs = rise(published.second, published.middle, published.dram);
    const Curve curve = chased(machine, kSecond);
    const double dram = chased(machine, 4 * static_cast<double>(machine.partition_bytes()) / 1024);
    const Rise ours = rise(curve, curve.front().latency, dram);
    INFO(published.machine << ": knee " << ours.knee << " KiB, published " << theirs.knee << "; middle "
                           << ours.middle << ", published " << theirs.middle);
    CHECK(std::abs(off_percent(ours.knee, theirs.knee)) < knee_within);
    CHECK(std::abs(off_percent(ours.middle, theirs.middle)) < middle_within);
}

// cuda-latency/v100.txt, a100_40.txt and a100_80.txt at commit 2f91588, gpu-latency/h100_pcie.txt at a7dc559:
// KiB and SM cycles. A plateau is the mean of its readings.
const Published kV100{
    "v100", {{5245, 215.0}, {5770, 215.3}, {6348, 265.1}, {6984, 354.5}, {7684, 395.8}}, 215.0, 427.5, {}, 0};
const Published kA100_40{
    "a100-40", {{18132, 213.3}, {19946, 213.6}, {21941, 282.8}, {24136, 347.3}, {26551, 378.8}}, 213.0,
    426.3,     {{38878, 425.5}, {42767, 450.7}, {47045, 485.6}, {51750, 505.8}, {56926, 534.6}}, 570.5};
const Published kA100_80{
    "a100-80", {{18132, 211.3}, {19946, 255.5}, {21941, 289.6}, {24136, 345.3}, {26551, 377.0}}, 211.0,
    424.0,     {{38878, 423.0}, {42767, 443.6}, {47045, 483.7}, {51750, 503.7}, {56926, 532.7}}, 568.5};
const Published kH100Pcie{"h100-pcie",
                          {{21941, 267.8}, {24136, 275.1}, {26551, 319.6}, {29207, 403.2}, {32129, 461.5}},
                          265.5,
                          474.0,
                          {{47045, 466.8}, {51750, 484.3}, {56926, 563.4}, {62620, 626.5}},
                          650.0};

}  // namespace

TEST_CASE("A chase leaves the V100's L2 at the published size") {
    compare_first(kV100, 10);
}

TEST_CASE("A chase leaves its own partition of an A100 or an H100 at the published size") {
    compare_first(kA100_40, 10);
    compare_first(kA100_80, 10);
    compare_first(kH100Pcie, 10);
}

TEST_CASE("A chase leaves the home partition of an A100 or an H100 at the published size") {
    // The A100's second rise is broader than sets of true LRU make it, which are all but full together: it
    // begins where it should, and is half over 13 % earlier on both.
    compare_second(kA100_40, 10, 17);
    compare_second(kA100_80, 10, 17);
    compare_second(kH100Pcie, 10, 10);
}

TEST_CASE("A hit of a chase takes the published cycles on a V100 and an A100") {
    // Here the whole of the latency counts, the SM's own part included.
    for (const Published& published : {kV100, kA100_40, kA100_80}) {
        const Machine machine = load_machine(published.machine);
        const double cycles =
            chased(machine, 2048) * machine.clock.sm_max_ghz + machine.latency.load_issue_cycles;
        INFO(published.machine << ": " << cycles << " cycles, published " << published.near);
        CHECK(std::abs(off_percent(cycles, published.near)) < 5);
    }
}

TEST_CASE("A chase on a GH200 stands on its plateaus at the published sizes") {
    // gpu-latency/gh200.txt: 280 cycles up to 25.4 MB, 480 to 520 from 37 to 58 MB, then 685.
    const Machine machine = load_machine("gh200");
    constexpr double kMb = 1e6 / 1024;
    const double near = chased(machine, 8 * kMb);
    const double middle = chased(machine, 48 * kMb);
    const double dram = chased(machine, 150 * kMb);
    CHECK(chased(machine, 25.4 * kMb) < near + 0.02 * (middle - near));
    CHECK(chased(machine, 37 * kMb) > near + 0.7 * (middle - near));
    CHECK(chased(machine, 58 * kMb) < middle + 0.1 * (dram - middle));
    // The middle plateau lies half-way up: (500 - 280) / (685 - 280) = 0.54.
    const double height = (middle - near) / (dram - near);
    INFO("the middle plateau is at " << height);
    CHECK(height > 0.44);
    CHECK(height < 0.67);
}
