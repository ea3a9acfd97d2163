// SPDX-License-Identifier: Apache-2.0
// Launches under a schedule that is given: CTAs run where and from when it says, and a simulation's own
// schedule gives its own counters.
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "schedule/simulation.hpp"
#include "support/catch.hpp"
#include "support/kernels.hpp"

using namespace l2lens;

namespace {

CtaStay stay_ns(std::int32_t sm, double start) {
    return {sm, from_ns(start), from_ns(start + 500)};
}

SimulationResult run(const Machine& machine, const Kernel& kernel, const std::vector<std::int32_t>& launches,
                     Mode mode, int ctas_per_sm, const LaunchSchedule* schedule) {
    SimulationOptions options;
    options.lanes = std::min(3, machine.l2.slices_per_partition);
    options.mode = mode;
    options.record_schedule = true;
    options.schedule = schedule;
    TbbExecutor executor(2);
    return Simulation(machine, kernel, launches, ctas_per_sm, options).run(executor);
}

// Two CTAs that read the same line in their only step.
SimulationResult two_readers(const LaunchSchedule& schedule, int ctas_per_sm = 1) {
    Kernel kernel = test::one_cta(1, 100, 1);
    kernel.grid = {1, 2};
    kernel.programs.push_back(kernel.programs.front());
    return run(load_machine("tiny"), kernel, test::in_order(kernel), Mode::Grid, ctas_per_sm, &schedule);
}

bool same_stays(const LaunchSchedule& a, const LaunchSchedule& b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const CtaStay& x, const CtaStay& y) {
        return x.sm == y.sm && x.start == y.start && x.end == y.end;
    });
}

}  // namespace

TEST_CASE("A recorded schedule has every CTA once, from its start to its end") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=2048", "n=2048", "k=256"}, machine);
    auto launches = test::in_order(kernel);
    launches.insert(launches.begin() + 10, 3, -1);  // no-op CTAs
    for (const Mode mode : {Mode::Grid, Mode::Static, Mode::Dynamic}) {
        const SimulationResult result = run(machine, kernel, launches, mode, 1, nullptr);
        REQUIRE(result.schedule.size() == launches.size());
        std::map<std::int32_t, int> ctas_of_sm;
        Picoseconds first = result.time, last = 0;
        for (std::size_t id = 0; id < launches.size(); ++id) {
            const CtaStay& stay = result.schedule[id];
            CHECK((stay.sm < 0) == (launches[id] < 0));
            if (stay.sm < 0) continue;
            CHECK(stay.end > stay.start);
            first = std::min(first, stay.start);
            last = std::max(last, stay.end);
            ++ctas_of_sm[stay.sm];
        }
        CHECK(first == 0);
        CHECK(last == result.time);
        CHECK(ctas_of_sm.size() == machine.sms.size());  // 256 tiles: each SM has one or two
        for (const auto& [sm, ctas] : ctas_of_sm) CHECK(ctas <= 3);
    }
}

TEST_CASE("Two readers of a line merge when the schedule has them in one GPC at one time") {
    const Events together = two_readers({stay_ns(0, 0), stay_ns(1, 0)}).events;
    CHECK(together[Event::CoalescableSectors] == 8);
    CHECK(together[Event::MergedSectors] == 4);
    CHECK(together[Event::FillSectors] == 4);

    const Events apart = two_readers({stay_ns(0, 0), stay_ns(1, 10000)}).events;
    CHECK(apart[Event::MergedSectors] == 0);
    CHECK(apart[Event::TexReadHits] == 4);
    CHECK(apart[Event::FillSectors] == 4);

    // SM 2 is in the other GPC and partition: its lookup crosses the fabric to the line's home.
    const Events elsewhere = two_readers({stay_ns(0, 0), stay_ns(2, 10000)}).events;
    CHECK(elsewhere[Event::MergedSectors] == 0);
    CHECK(elsewhere[Event::FabricReadSectors] == 4);
    CHECK(elsewhere[Event::FillSectors] == 4);
}

TEST_CASE("CTAs begin when the schedule says, or when there is a place on their SM") {
    const LaunchSchedule apart = two_readers({stay_ns(3, 700), stay_ns(3, 40000)}).schedule;
    CHECK(apart[0].sm == 3);
    CHECK(apart[1].sm == 3);
    CHECK(apart[1].start - apart[0].start == from_ns(39300));
    // Both at once: one place makes the second wait for the first to leave, two places do not.
    const LaunchSchedule queued = two_readers({stay_ns(3, 0), stay_ns(3, 1)}).schedule;
    CHECK(queued[1].start >= queued[0].end);
    const LaunchSchedule side_by_side = two_readers({stay_ns(3, 0), stay_ns(3, 1)}, 2).schedule;
    CHECK(side_by_side[1].start == from_ns(1));
    // The later launch may come first.
    const LaunchSchedule swapped = two_readers({stay_ns(3, 9000), stay_ns(3, 0)}).schedule;
    CHECK(swapped[1].start == 0);
    CHECK(swapped[0].start == from_ns(9000));
}

TEST_CASE("A CTA that keeps its recorded pace asks for its steps as the recorded one went through them") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=128", "n=128", "k=1024", "stages=4"}, machine);
    const auto launches = test::in_order(kernel);
    const LaunchSchedule schedule{{0, 0, from_ns(160e3)}};
    SimulationOptions options;
    options.lanes = 3;
    options.schedule = &schedule;
    options.record_schedule = true;
    TbbExecutor executor(2);
    const auto length_ns = [&] {
        const CtaStay stay = Simulation(machine, kernel, launches, 1, options).run(executor).schedule[0];
        return static_cast<double>(stay.end - stay.start) / kPsPerNs;
    };
    CHECK(length_ns() < 20e3);
    options.recorded_paces = true;
    // Sixteen steps with loads and the one that stores; those of four stages leave at once.
    const double step_ns = (160e3 - kernel.epilogue_ns) / 17;
    CHECK(length_ns() >= 12 * step_ns);
    CHECK(length_ns() < 160e3);
}

TEST_CASE("A simulation's own schedule gives its own counters, bit for bit") {
    struct Launch {
        std::vector<std::string> arguments;
        Mode mode;
        int ctas_per_sm;
    };
    const Machine machine = load_machine("h200");
    for (const Launch& launch : {Launch{{"m=2048", "n=4096", "k=1024"}, Mode::Grid, 1},
                                 {{"m=2048", "n=4096", "k=1024", "mode=static"}, Mode::Static, 1},
                                 {{"m=2048", "n=4096", "k=1024", "mode=dynamic"}, Mode::Dynamic, 1},
                                 {{"m=2048", "n=2048", "k=512", "bm=64", "bn=64"}, Mode::Grid, 3},
                                 {{"m=2048", "n=2048", "k=1024", "cluster_n=2"}, Mode::Grid, 1}}) {
        const Kernel kernel = test::gemm(launch.arguments, machine);
        INFO(kernel.title << ", mode " << static_cast<int>(launch.mode));
        auto launches = test::in_order(kernel);
        if (kernel.ctas_of_cluster() == 1) launches.insert(launches.begin() + 200, 2, -1);
        const auto own = run(machine, kernel, launches, launch.mode, launch.ctas_per_sm, nullptr);
        const auto again = run(machine, kernel, launches, launch.mode, launch.ctas_per_sm, &own.schedule);
        CHECK(again.events == own.events);
        CHECK(again.time == own.time);
        CHECK(same_stays(again.schedule, own.schedule));
    }
}

TEST_CASE("A cluster on an SM where none fits is refused") {
    // The GPCs of the teaching GPU have two SMs. With three, the third is left over by clusters of two.
    Machine machine = load_machine("tiny");
    machine.sms.push_back(machine.sms[0]);
    const Kernel kernel = test::gemm({"m=128", "n=256", "k=64", "cluster_n=2"}, machine);
    const LaunchSchedule schedule{stay_ns(4, 0), stay_ns(4, 0)};
    CHECK_THROWS_WITH(run(machine, kernel, test::in_order(kernel), Mode::Grid, 1, &schedule),
                      ContainsSubstring("a cluster of 2 CTAs on SM 4, where none fits"));
}
