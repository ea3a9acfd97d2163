// SPDX-License-Identifier: Apache-2.0
// What do the SMs of a GPC, of three and of all read when each keeps some of a GEMM's boxes under way? 128
// rows of 128 B that lie 16 KiB apart, of its own, which the L2 has. How much longer do small boxes take
// beside them, and whose (traces/h200/waits.csv)? And is it less when the SMs' clock is slow
// (traces/h200/port_clock.csv)?
#include <algorithm>
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
constexpr std::int64_t kWalks = 12;      // after those

Kernel private_boxes(std::size_t sms, std::int64_t count, int in_flight) {
    test::PrivateWalks walks;
    walks.rows_of_cta = kRows;
    walks.row_bytes = 16 << 10;
    walks.box.step = {0, kBoxColumns};
    walks.box.extent = {kRows, kBoxColumns};
    walks.boxes = kBoxesAcross;
    walks.walks = count;
    walks.in_flight = in_flight;
    return test::private_walks(static_cast<std::int64_t>(sms), walks);
}

// How long each of these SMs takes for its CTA, ns.
std::vector<double> stays(const Machine& machine, const std::vector<int>& sms, const Kernel& kernel) {
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
double read_by(const Machine& machine, const std::vector<int>& sms, int in_flight) {
    const auto walk = [&](std::int64_t walks) {
        return stays(machine, sms, private_boxes(sms.size(), walks, in_flight));
    };
    const std::vector<double> first = walk(kFirstWalks);
    const std::vector<double> all = walk(kFirstWalks + kWalks);
    double rate = 0;
    for (std::size_t sm = 0; sm < sms.size(); ++sm)
        rate += kWalks * kBoxesAcross * kBoxBytes / (all[sm] - first[sm]);
    return rate;
}

// The last SM of each GPC, which timed boxes on the GPU.
std::vector<int> timers_of(const Machine& machine) {
    std::vector<int> last(static_cast<std::size_t>(machine.gpcs));
    for (std::size_t sm = 0; sm < machine.sms.size(); ++sm)
        last[static_cast<std::size_t>(machine.sms[sm].gpc)] = static_cast<int>(sm);
    return last;
}

// All other SMs of these GPCs.
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

TEST_CASE("SMs with boxes of a GEMM under way read what they read on the GPU, however many") {
    const Machine machine = load_machine("h200");
    std::vector<int> all(static_cast<std::size_t>(machine.gpcs));
    std::iota(all.begin(), all.end(), 0);
    std::vector<int> side = gpcs_of_side(machine, 0);
    side.pop_back();
    const std::vector<std::pair<std::string, std::vector<int>>> sets{
        {"one_gpc", {side.front()}}, {"all_but_one_of_a_side", side}, {"all", all}};
    for (const auto& [set, gpcs] : sets) {
        for (const int in_flight : {2, 3, 6}) {
            const double counted =
                test::recorded_rows("waits.csv",
                                    {{"set", set}, {"in_flight", std::to_string(in_flight)}, {"rows", "128"}})
                    .front()["bytes_per_ns"];
            INFO(set << ", " << in_flight << " boxes in flight: " << counted << " B/ns on the GPU");
            // Seen: 1 to 2 % less by one GPC, 2 to 4 by three, as much to 2 % more by all.
            CHECK(read_by(machine, sms_of(machine, gpcs), in_flight) == Approx(counted).epsilon(0.045));
        }
    }
}

namespace {

constexpr std::int64_t kSmallRows = 8;

struct Took {
    double own = 0;   // ns of a small box, in the mean: of the busy GPC
    double near = 0;  // of the others of its side
};

// A small box of a GPC's last SM, one after the other, while the other SMs of `gpc` have so many large ones
// in flight (0: none). The kernel has as many small ones in flight: one takes as many times longer.
Took small_boxes_beside(const Machine& machine, int gpc, int in_flight) {
    const std::vector<int> timers = timers_of(machine);
    std::vector<int> sms;
    if (in_flight > 0) sms = sms_of(machine, {gpc});
    const std::size_t readers = sms.size();
    sms.insert(sms.end(), timers.begin(), timers.end());
    constexpr std::int64_t kBoxes = kRows / kSmallRows * kBoxesAcross;  // of a walk
    const int at_once = std::max(in_flight, 1);
    const auto walk = [&](int walks) {
        constexpr int kLongEnough = 60;
        Kernel kernel = private_boxes(sms.size(), kLongEnough / at_once * at_once, at_once);
        for (std::size_t cta = readers; cta < sms.size(); ++cta) {
            std::vector<Phase>& phases = kernel.programs[cta].phases;
            Phase down = phases.front();
            down.loads.front().extent[0] = kSmallRows;
            phases.clear();
            for (std::int64_t row = 0; row < walks * kRows; row += kSmallRows) {
                phases.push_back(down);
                phases.back().loads.front().start[0] += row % kRows;
            }
        }
        return stays(machine, sms, kernel);
    };
    const std::vector<double> first = walk(1);
    const std::vector<double> both = walk(2);
    Took took;
    int near = 0;
    for (std::size_t other = 0; other < timers.size(); ++other) {
        const double ns = (both[readers + other] - first[readers + other]) / kBoxes * at_once;
        const auto side = [&](std::size_t of) {
            return machine.sms[static_cast<std::size_t>(timers[of])].partition;
        };
        if (static_cast<int>(other) == gpc) {
            took.own = ns;
        } else if (side(other) == side(static_cast<std::size_t>(gpc))) {
            took.near += ns;
            ++near;
        }
    }
    took.near /= near;
    return took;
}

Took counted_beside_boxes(int in_flight) {
    const auto mean = [&](const std::string& where) {
        const auto rows = test::recorded_rows("waits.csv", {{"set", "one_gpc"},
                                                            {"in_flight", std::to_string(in_flight)},
                                                            {"rows", "128"},
                                                            {"where", where}});
        double sum = 0;
        for (const auto& row : rows) sum += row["mean_ns"] / static_cast<double>(rows.size());
        return sum;
    };
    return {mean("own"), mean("near")};
}

}  // namespace

TEST_CASE("Who waits while a GPC reads all it can are its own small boxes, and others' hardly") {
    const Machine machine = load_machine("h200");
    const int gpc = gpcs_of_side(machine, 0).front();
    const Took alone = small_boxes_beside(machine, gpc, 0);
    const Took alone_counted = counted_beside_boxes(0);
    for (const int in_flight : {2, 3}) {
        INFO(in_flight << " boxes in flight");
        const Took took = small_boxes_beside(machine, gpc, in_flight);
        const Took counted = counted_beside_boxes(in_flight);
        // Seen: 54 and 152 for 86 and 144 ns; with four and six 249 and 376 for 196 and 316.
        CHECK(took.own - alone.own == Approx(counted.own - alone_counted.own).margin(36));
        // Seen: 0 and 10 for 4 and 34; with four and six 113 and 287 for 66 and 141.
        CHECK(took.near - alone.near == Approx(counted.near - alone_counted.near).margin(32));
    }
}

namespace {

constexpr int kInFlight = 2;  // of port_clock.csv

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
        CHECK(read_by(slowed, sms, kInFlight) / read_by(machine, sms, kInFlight) ==
              Approx(slow.bytes_per_ns / fast.bytes_per_ns).epsilon(0.02));
    }
}
