// SPDX-License-Identifier: Apache-2.0
// Whole launches: what has to be exact is exact, and threads, seeds and warm caches do what they should.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "schedule/simulation.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/kernels.hpp"
#include "support/launches.hpp"
#include "support/own_clock.hpp"

using namespace l2lens;
using test::kFirstLineNs;
using test::lanes;
using test::run;

namespace {

// Sectors of a GEMM whose tiles divide it: each tile loads a row of A and a column of B.
struct Nominal {
    std::uint64_t loads, stores, inputs;
    Nominal(std::uint64_t m, std::uint64_t n, std::uint64_t k, std::uint64_t bm, std::uint64_t bn)
        : loads(m * n * k * 2 / bm / 32 + m * n * k * 2 / bn / 32),
          stores(m * n * 2 / 32),
          inputs((m * k + n * k) * 2 / 32) {}
};

void check_same(const SimulationResult& a, const SimulationResult& b) {
    CHECK(a.events == b.events);
    CHECK(a.time == b.time);
    CHECK(a.sm_cycles == b.sm_cycles);
    CHECK(a.scale == b.scale);
    CHECK(a.slice_sectors == b.slice_sectors);
}

}  // namespace

TEST_CASE("A GEMM asks for its nominal sectors and stores every tile once, in every mode") {
    struct Size {
        int m, n, k, bm, bn, bk;
    };
    const Machine machine = load_machine("h200");
    for (const Size& s :
         {Size{512, 768, 256, 128, 128, 64}, {1024, 512, 512, 64, 128, 32}, {256, 256, 128, 64, 64, 128}}) {
        for (const char* mode : {"grid", "static", "dynamic"}) {
            INFO(s.m << " x " << s.n << " x " << s.k << ", " << mode);
            const auto arg = [](const char* name, int value) {
                return std::string(name) + "=" + std::to_string(value);
            };
            const Kernel kernel = test::gemm({arg("m", s.m), arg("n", s.n), arg("k", s.k), arg("bm", s.bm),
                                              arg("bn", s.bn), arg("bk", s.bk), std::string("mode=") + mode},
                                             machine);
            const Mode launched = mode[0] == 'g' ? Mode::Grid : mode[0] == 's' ? Mode::Static : Mode::Dynamic;
            const auto result = run(machine, kernel, test::in_order(kernel), lanes(47, launched));
            const auto u = [](int value) { return static_cast<std::uint64_t>(value); };
            const Nominal nominal(u(s.m), u(s.n), u(s.k), u(s.bm), u(s.bn));
            const Events& e = result.events;
            CHECK(e[Event::CoalescableSectors] == nominal.loads);
            CHECK(e[Event::DeliveredSectors] == nominal.loads);
            CHECK(e[Event::TexWriteSectors] == nominal.stores);
            CHECK(e[Event::TexWriteMisses] == 0);
            CHECK(e[Event::FillSectors] == nominal.inputs);  // all of it fits
            CHECK(e[Event::CoalescableSectors] == e[Event::TexReadSectors] + e[Event::MergedSectors]);
            CHECK(result.scale == 1);
        }
    }
}

TEST_CASE("The order of the tiles changes neither what is asked for nor what is stored") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=1024", "n=1024", "k=256"}, machine);
    auto launches = test::in_order(kernel);
    const auto forwards = run(machine, kernel, launches, lanes(47));
    std::reverse(launches.begin(), launches.end());
    launches.insert(launches.begin() + 10, 5, -1);  // no-op CTAs
    const auto backwards = run(machine, kernel, launches, lanes(47));
    for (const Event event : {Event::CoalescableSectors, Event::TexWriteSectors, Event::FillSectors})
        CHECK(forwards.events[event] == backwards.events[event]);
}

TEST_CASE("A sample of lanes is scaled to exactly what the SMs asked for") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=1024", "n=1024", "k=512"}, machine);
    const Nominal nominal(1024, 1024, 512, 128, 128);
    for (const int count : {1, 3, 12}) {
        INFO(count << " lanes");
        const auto result = run(machine, kernel, test::in_order(kernel), lanes(count));
        const auto simulated =
            result.events[Event::CoalescableSectors] + result.events[Event::TexWriteSectors];
        CHECK(result.scale * static_cast<double>(simulated) ==
              Approx(static_cast<double>(nominal.loads + nominal.stores)));
        CHECK(result.scale == Approx(47.0 / count).epsilon(0.05));
        CHECK(result.slice_sectors.size() == static_cast<std::size_t>(2 * count));
    }
}

TEST_CASE("Any number of threads gives the same result bit for bit") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=2048", "n=2048", "k=512", "bm=64", "bn=64"}, machine);
    const auto launches = test::in_order(kernel);
    for (const Mode mode : {Mode::Grid, Mode::Dynamic}) {
        for (const int count : {1, 6}) {  // a team of two threads at most, and one of all
            SimulationOptions options = lanes(count, mode);
            options.seed = 5;
            const auto serial = run(machine, kernel, launches, options, 2);
            for (const int threads : {2, 4}) {
                INFO(count << " lanes, " << threads << " threads");
                TbbExecutor executor(threads);
                check_same(serial, Simulation(machine, kernel, launches, 2, options).run(executor));
            }
            check_same(serial, run(machine, kernel, launches, options, 2));
        }
    }
}

TEST_CASE("Another seed is another run of the same work") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=1024", "n=1024", "k=1024"}, machine);
    SimulationOptions options = lanes(3);
    const auto one = run(machine, kernel, test::in_order(kernel), options);
    options.seed = 1;
    const auto other = run(machine, kernel, test::in_order(kernel), options);
    CHECK(one.time != other.time);
    CHECK(one.events[Event::CoalescableSectors] == other.events[Event::CoalescableSectors]);
    // But for a pause of DRAM's, into which one of them may run.
    const double pause = machine.latency.dram_pause_ns * kPsPerNs;
    CHECK(static_cast<double>(one.time) ==
          Approx(static_cast<double>(other.time)).margin(0.02 * static_cast<double>(one.time) + pause));
}

TEST_CASE("A warm L2 reads less, and nothing when all of it fits") {
    const Machine machine = load_machine("h200");
    SimulationOptions options = lanes(2);
    const auto fills = [&](const Kernel& kernel, bool warm) {
        options.warm_l2 = warm;
        const auto result = run(machine, kernel, test::in_order(kernel), options);
        return std::pair(result.events[Event::FillSectors], result.time);
    };
    const Kernel small = test::gemm({"m=1024", "n=1024", "k=1024"}, machine);
    const auto [cold_fill, cold_time] = fills(small, false);
    const auto [warm_fill, warm_time] = fills(small, true);
    CHECK(cold_fill > 0);
    CHECK(warm_fill == 0);
    CHECK(warm_time < cold_time);
    // Inputs of 2 x 24 MiB, more than a partition: some of the first rows are gone when they are wanted
    // again.
    const Kernel large = test::gemm({"m=4096", "n=4096", "k=3072"}, machine);
    if (test::left_to_plain_builds()) return;
    const auto cold = fills(large, false).first;
    const auto warm = fills(large, true).first;
    CHECK(warm < cold);
    CHECK(warm > 0);
}

TEST_CASE("A launch behind another one has a clock of its own") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=1024", "n=1024", "k=1024"}, machine);
    SimulationOptions options = lanes(2);
    options.record_schedule = true;
    for (const bool warm : {false, true}) {
        INFO("warm " << warm);
        options.warm_l2 = warm;
        const SimulationResult result = run(machine, kernel, test::in_order(kernel), options);
        test::check_own_clock(result, machine,
                              1024.0 / 64 * 512);  // steps of 128 x 128 x 64 at 4096 flops a cycle
    }
}

TEST_CASE("CTAs that follow each other on an SM are a launch gap apart") {
    const Machine machine = load_machine("tiny");
    Kernel kernel = test::one_cta(1, 500, 1);
    kernel.grid = {9, 1};
    kernel.programs.resize(9, kernel.programs[0]);
    const auto result = run(machine, kernel, test::in_order(kernel), lanes(1));
    // Four SMs: the ninth CTA is the third of SM 0. Later ones hit: 108 ns less than from DRAM. Windows of 20
    // ns (rounded down to a wheel bucket) hand a place on at their end.
    const double hit_ns = kFirstLineNs - 108;
    const double least = (kFirstLineNs + 500) + 2 * (100 + hit_ns + 500);
    CHECK(static_cast<double>(result.time) / kPsPerNs >= least);
    CHECK(static_cast<double>(result.time) / kPsPerNs <= least + 2 * 20);
}

TEST_CASE("CTAs keep paces of their own when the kernel says how far these are apart") {
    // Math of 200 x 500 cycles hides all loads but the first, so times are in proportion to the paces.
    const Machine machine = load_machine("tiny");
    Kernel kernel = test::one_cta(200, 500, 3);
    kernel.pipeline = Pipeline::WarpSpecialized;
    kernel.grid = {400, 1};
    kernel.programs.resize(400, kernel.programs[0]);
    for (const double spread : {0.0, 0.02}) {
        kernel.pace_spread = spread;
        SimulationOptions options = lanes(1);
        options.record_schedule = true;
        const auto result = run(machine, kernel, test::in_order(kernel), options);
        double mean = 0, squares = 0;
        for (const CtaStay& stay : result.schedule) {
            const double time = static_cast<double>(stay.end - stay.start) / kPsPerNs / 100'000;
            mean += time / 400;
            squares += time * time / 400;
        }
        // 400 uniform draws: their mean is known to 5 % of the spread, their standard deviation to 2.2 %.
        CHECK(mean == Approx(1.002).margin(0.004));
        CHECK(std::sqrt(squares - mean * mean) == Approx(spread).margin(spread * 0.08 + 0.0006));
    }
}

TEST_CASE(
    "Under tensor load the GPCs' paces have mean 1 and the machine's spread, another set for each seed") {
    Machine machine = load_machine("h200");
    REQUIRE(machine.clock.gpc_spread > 0);
    const std::vector<double> alike(8, 1.0);
    Kernel kernel = test::one_cta(1, 100, 1);
    CHECK(gpc_paces(machine, kernel, 0) == alike);
    kernel.programs[0].phases[0].math_flops = 1;
    std::vector<std::vector<double>> seen;
    for (const std::uint64_t seed : {0u, 1u, 2u}) {
        const std::vector<double> paces = gpc_paces(machine, kernel, seed);
        REQUIRE(paces.size() == 8);
        double sum = 0, squares = 0;
        for (const double pace : paces) {
            sum += pace;
            squares += (pace - 1) * (pace - 1);
        }
        CHECK(sum / 8 == Approx(1).epsilon(1e-12));
        CHECK(std::sqrt(squares / 8) == Approx(machine.clock.gpc_spread).epsilon(1e-9));
        CHECK(std::find(seen.begin(), seen.end(), paces) == seen.end());
        seen.push_back(paces);
    }
    machine.clock.gpc_spread = 0;
    CHECK(gpc_paces(machine, kernel, 0) == alike);
}

TEST_CASE("GPCs' cycles are alike when their clocks have settled") {
    Machine machine = load_machine("h200");
    machine.clock.gpc_settles_ms = 0.5;
    Kernel kernel = test::one_cta(1, 100, 1);
    kernel.programs[0].phases[0].math_flops = 1;
    const std::vector<double> apart = gpc_paces(machine, kernel, 0);
    GpcClocks clocks(machine, kernel, 0);
    const Picoseconds launched = from_ns(3e6), settled = launched + from_ns(0.5e6);
    for (std::size_t gpc = 0; gpc < apart.size(); ++gpc) {
        CHECK(clocks.cycle(gpc, launched) == apart[gpc]);
        CHECK(clocks.cycle(gpc, settled - 1) == apart[gpc]);
        CHECK(clocks.cycle(gpc, settled) == 1);
    }
}

TEST_CASE("An epilogue that overlaps costs the next tile's loads, or they cost it, but not both") {
    const Machine machine = load_machine("tiny");
    const double hit_ns = kFirstLineNs - 108;
    const double gap = machine.launch.persistent_gap_ns;
    for (const int stages : {1, 2})
        for (const double epilogue : {20.0, 1000.0}) {
            Kernel kernel = test::one_cta(1, 500, stages);
            kernel.grid = {9, 1};
            kernel.programs.resize(9, kernel.programs[0]);
            kernel.epilogue_ns = epilogue;
            const auto between = [&](bool overlaps) {  // from the end of a tile's math to the next one's
                kernel.epilogue_overlaps = overlaps;
                const auto result = run(machine, kernel, test::in_order(kernel), lanes(1, Mode::Static));
                const double ns = static_cast<double>(result.time) / kPsPerNs;
                return (ns - kFirstLineNs - 500 - epilogue) / 2 - 500;  // SM 0 has three tiles
            };
            INFO(stages << " stages, an epilogue of " << epilogue << " ns, a gap of " << gap << " ns");
            CHECK(between(false) == Approx(epilogue + gap + hit_ns).margin(20));
            // With a stage to spare the next tile's box comes while this one's math runs.
            const double load_ns = stages == 1 ? hit_ns : 0;
            CHECK(between(true) == Approx(std::max(epilogue, gap + load_ns)).margin(20));
        }
}

TEST_CASE("A load behind a stored box waits until that has left the SM, behind plain stores it does not") {
    Machine machine = load_machine("tiny");
    machine.bandwidth.store_lines_per_cycle = 0.25;
    Kernel kernel = test::one_cta(129, 100, 1);
    Phase step = kernel.programs[0].phases[0];
    step.count = 1;
    Phase storing = step;
    BoxWalk& store = storing.stores.emplace_back(step.loads[0]);
    store.start = {1, 0};
    kernel.programs[0].phases = {storing, step};
    const auto time_ns = [&](Path path, int rows) {
        BoxWalk& stored = kernel.programs[0].phases[0].stores[0];
        stored.path = path;
        stored.extent = {rows, 64};
        SimulationOptions options = lanes(1);
        options.record_schedule = true;  // the launch itself ends with the last store
        const auto result = run(machine, kernel, test::in_order(kernel), options);
        return static_cast<double>(result.schedule[0].end) / kPsPerNs;
    };
    // Of 64 rows more, since the first ones' data keep the load waiting in its slice as well.
    CHECK(time_ns(Path::Tma, 128) - time_ns(Path::Tma, 64) == Approx(64 * 4).margin(10));
    CHECK(time_ns(Path::Load, 128) - time_ns(Path::Load, 64) == Approx(0).margin(10));
}

TEST_CASE("A launch of one CTA keeps one SM active") {
    const Machine machine = load_machine("tiny");  // a cycle is a nanosecond
    const auto result = run(machine, test::one_cta(20, 100, 2), {0}, lanes(1));
    const double ns = static_cast<double>(result.time) / kPsPerNs;
    CHECK(result.sm_cycles == Approx(ns / static_cast<double>(machine.sms.size())).epsilon(0.02));
}

TEST_CASE("What is written in part is fetched when it leaves, what is added to before") {
    Machine machine = load_machine("tiny");  // holds 32 lines
    Kernel kernel = test::one_cta(64, 0, 1);
    BoxWalk& store = kernel.programs[0].phases[0].stores.emplace_back(kernel.programs[0].phases[0].loads[0]);
    kernel.programs[0].phases[0].loads.clear();
    for (const std::int64_t bytes : {32 + 16, 32 + 32}) {  // one sector, and half of the next or all of it
        for (const bool masks : {false, true}) {
            for (const bool reduce : {false, true}) {
                INFO(bytes << " bytes, byte masks: " << masks << ", reduction: " << reduce);
                machine.l2.byte_masks = masks;
                store.extent = {1, bytes / 2};
                store.reduce = reduce;
                const auto result =
                    run(machine, kernel, test::in_order(kernel), lanes(machine.l2.slices_per_partition));
                const bool in_part = !masks && bytes % 32 != 0;
                CHECK(result.events[Event::TexWriteSectors] == 64 * 2);
                const std::uint64_t left = result.events[Event::WritebackSectors] / 2;  // lines
                CHECK(left >= 64 - 32);
                CHECK(result.events[Event::FillSectors] == (reduce ? 64 * 2 : in_part ? left : 0));
            }
        }
    }
}

// As the rows of neighbouring tiles of C do that end within a sector.
TEST_CASE("Two parts of a sector make it whole") {
    const Machine machine = load_machine("tiny");
    Kernel kernel = test::one_cta(64, 0, 1);
    Phase& phase = kernel.programs[0].phases[0];
    for (const std::int64_t from : {0, 24}) {  // 48 bytes, then 16
        BoxWalk& store = phase.stores.emplace_back(phase.loads[0]);
        store.start[1] = from;
        store.extent = {1, from == 0 ? 24 : 8};
    }
    phase.loads.clear();
    const auto result = run(machine, kernel, test::in_order(kernel), lanes(machine.l2.slices_per_partition));
    CHECK(result.events[Event::TexWriteSectors] == 64 * 3);
    CHECK(result.events[Event::FillSectors] == 0);
    CHECK(result.events[Event::WritebackSectors] >= (64 - 32) * 2);
}

TEST_CASE("A stop request ends the run, and progress only grows") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=2048", "n=2048", "k=512"}, machine);
    SimulationOptions options = lanes(1);
    const std::vector<std::int32_t> order = test::in_order(kernel);
    for (const bool twice : {false, true}) {  // a second time to warm the L2, and with a launch that follows
        options.warm_l2 = twice;
        if (twice) options.then = {{&kernel, order, 1}};
        std::vector<double> seen;
        options.progress = [&](double fraction) { seen.push_back(fraction); };
        run(machine, kernel, order, options);
        REQUIRE_FALSE(seen.empty());
        CHECK(std::is_sorted(seen.begin(), seen.end()));
        CHECK(seen.front() > 0);
        CHECK(seen.front() < 1);
        CHECK(seen.back() > 0.9);
        CHECK(seen.back() <= 1);
    }
    options.progress = nullptr;
    options.stop_requested = [] { return true; };
    CHECK_THROWS_AS(run(machine, kernel, order, options), Interrupted);
}

TEST_CASE("No launch is faster than its math at the highest clock") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=1408", "n=1536", "k=4096"}, machine);  // 11 x 12 tiles: one wave
    const auto result = run(machine, kernel, test::in_order(kernel), lanes(1));
    const double cycles = 2.0 * 128 * 128 * 4096 / machine.sm.tensor_flops_per_cycle_16bit;
    CHECK(static_cast<double>(result.time) / kPsPerNs > cycles / machine.clock.sm_max_ghz);
    CHECK(result.sm_cycles > cycles);
}
