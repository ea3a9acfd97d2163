// SPDX-License-Identifier: Apache-2.0
// What do the SMs of a GPC, of three and of all read when each keeps two of a GEMM's boxes under way? 128
// rows of 128 B that lie 16 KiB apart, of its own, which the L2 has (traces/h200/waits.csv). And is it less
// when the SMs' clock is slow (traces/h200/port_clock.csv)?
#include <cstdint>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "load/machine_file.hpp"
#include "schedule/simulation.hpp"
#include "support/catch.hpp"
#include "support/kernels.hpp"
#include "support/private_walks.hpp"
#include "support/recorded.hpp"

using namespace l2lens;

namespace {

constexpr std::int64_t kRows = 128;
constexpr std::int64_t kBoxColumns = 64;
constexpr std::int64_t kBoxBytes = kRows * kBoxColumns * 2;
constexpr std::int64_t kBoxesAcross = 10;
constexpr std::int64_t kFirstWalks = 4;  // over its boxes; the first one fetches them
constexpr std::int64_t kWalks = 24;      // after those
constexpr int kInFlight = 2;

Kernel private_boxes(std::size_t sms, std::int64_t count) {
    test::PrivateWalks walks;
    walks.rows_of_cta = kRows;
    walks.row_bytes = 16 << 10;
    walks.box.step = {0, kBoxColumns};
    walks.box.extent = {kRows, kBoxColumns};
    walks.boxes = kBoxesAcross;
    walks.walks = count;
    walks.in_flight = kInFlight;
    return test::private_walks(static_cast<std::int64_t>(sms), walks);
}

// How long each of these SMs takes for so many walks, ns.
std::vector<double> walk(const Machine& machine, const std::vector<int>& sms, std::int64_t walks) {
    const Kernel kernel = private_boxes(sms.size(), walks);
    LaunchSchedule placed;
    constexpr double kBeyondTheEnd = 1e6;
    for (const int sm : sms) placed.push_back({sm, 0, from_ns(kBeyondTheEnd)});
    SimulationOptions options;
    options.lanes = machine.l2.slices_per_partition;
    options.record_schedule = true;
    options.schedule = &placed;
    SerialExecutor serial;
    std::vector<double> took;
    for (const CtaStay& stay :
         Simulation(machine, kernel, test::in_order(kernel), 1, options).run(serial).schedule)
        took.push_back(static_cast<double>(stay.end - stay.start) / kPsPerNs);
    return took;
}

// By all of these SMs together, of boxes that the L2 has, B/ns.
double read_by(const Machine& machine, const std::vector<int>& sms) {
    const std::vector<double> first = walk(machine, sms, kFirstWalks);
    const std::vector<double> all = walk(machine, sms, kFirstWalks + kWalks);
    double rate = 0;
    for (std::size_t sm = 0; sm < sms.size(); ++sm)
        rate += kWalks * kBoxesAcross * kBoxBytes / (all[sm] - first[sm]);
    return rate;
}

// All SMs of these GPCs but the last of each, which timed boxes on the GPU.
std::vector<int> sms_of(const Machine& machine, const std::vector<int>& gpcs) {
    std::vector<int> chosen;
    for (const int gpc : gpcs) {
        for (std::size_t sm = 0; sm < machine.sms.size(); ++sm)
            if (machine.sms[sm].gpc == gpc) chosen.push_back(static_cast<int>(sm));
        chosen.pop_back();
    }
    return chosen;
}

std::vector<int> gpcs_of_side(const Machine& machine, int side) {
    std::set<int> gpcs;
    for (const Sm& sm : machine.sms)
        if (sm.partition == side) gpcs.insert(sm.gpc);
    return {gpcs.begin(), gpcs.end()};
}

}  // namespace

// With three boxes all of them read 9222 B/ns on the GPU and 7530 here: docs/fidelity.md.
TEST_CASE("SMs with two boxes of a GEMM under way read what they read on the GPU") {
    const Machine machine = load_machine("h200");
    std::vector<int> all(static_cast<std::size_t>(machine.gpcs));
    std::iota(all.begin(), all.end(), 0);
    std::vector<int> side = gpcs_of_side(machine, 0);
    side.pop_back();
    const std::vector<std::pair<std::string, std::vector<int>>> sets{
        {"one_gpc", {side.front()}}, {"all_but_one_of_a_side", side}, {"all", all}};
    for (const auto& [set, gpcs] : sets) {
        const double counted =
            test::recorded_rows("waits.csv",
                                {{"set", set}, {"in_flight", std::to_string(kInFlight)}, {"rows", "128"}})
                .front()["bytes_per_ns"];
        INFO(set << ": " << counted << " B/ns on the GPU");
        // Seen: 2, 3 and 3 % more.
        CHECK(read_by(machine, sms_of(machine, gpcs)) == Approx(counted).epsilon(0.04));
    }
}

namespace {

struct Counted {
    double bytes_per_ns = 0;  // by all GPCs of a set
    double sm_ghz = 0;        // of the last one
};

// While the tensor cores of `math` ("none", "all") multiply.
Counted counted_beside(const std::string& set, const std::string& math) {
    Counted counted;
    for (const auto& row : test::recorded_rows(
             "port_clock.csv", {{"set", set}, {"math", math}, {"in_flight", std::to_string(kInFlight)}})) {
        counted.bytes_per_ns += row["bytes_per_ns"];
        counted.sm_ghz = row["sm_ghz"];
    }
    return counted;
}

}  // namespace

TEST_CASE("Neither a GPC's port nor the slices slow down with the SMs' clock") {
    const Machine machine = load_machine("h200");
    std::vector<int> all(static_cast<std::size_t>(machine.gpcs));
    std::iota(all.begin(), all.end(), 0);
    for (const auto& [set, gpcs] :
         std::vector<std::pair<std::string, std::vector<int>>>{{"one_gpc", {0}}, {"all", all}}) {
        const Counted fast = counted_beside(set, "none");
        const Counted slow = counted_beside(set, "all");
        Machine slowed = machine;
        slowed.clock.sm_max_ghz = slow.sm_ghz;
        INFO(set << ": SMs at " << slow.sm_ghz << " and " << fast.sm_ghz << " GHz");
        REQUIRE(slow.sm_ghz < 0.9 * fast.sm_ghz);
        const std::vector<int> sms = sms_of(machine, gpcs);
        CHECK(read_by(slowed, sms) / read_by(machine, sms) ==
              Approx(slow.bytes_per_ns / fast.bytes_per_ns).epsilon(0.02));
    }
}
