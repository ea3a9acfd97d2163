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
#include "schedule/pace.hpp"
#include "schedule/simulation.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/kernels.hpp"
#include "support/own_clock.hpp"

using namespace l2lens;

namespace {

SimulationResult run(const Machine& machine, const Kernel& kernel, const std::vector<std::int32_t>& launches,
                     const SimulationOptions& options, int ctas_per_sm = 1) {
    SerialExecutor serial;
    return Simulation(machine, kernel, launches, ctas_per_sm, options).run(serial);
}

SimulationOptions lanes(int count, Mode mode = Mode::Grid) {
    SimulationOptions options;
    options.lanes = count;
    options.mode = mode;
    return options;
}

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

// What the SM's side of the teaching GPU adds to a line: 10 cycles to issue it, 0.5 ns in the GPC's port (128
// B at 256 B/ns), 1 ns into the SM. The rest as in memory_traffic.cpp: 20 + 10 + 8 + 100 + 1 + 20 for a near
// line.
constexpr double kFirstLineNs = 10 + (20 + 10 + 8 + 100 + 1 + 20) + 0.5 + 1;

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
        SimulationOptions options = lanes(6, mode);
        options.seed = 5;
        const auto serial = run(machine, kernel, launches, options, 2);
        for (const int threads : {2, 4}) {
            INFO(threads << " threads");
            TbbExecutor executor(threads);
            check_same(serial, Simulation(machine, kernel, launches, 2, options).run(executor));
        }
        check_same(serial, run(machine, kernel, launches, options, 2));
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

TEST_CASE("One CTA with one step takes the sum of its way's latencies") {
    const Machine machine = load_machine("tiny");
    Kernel kernel = test::one_cta(1, 500, 1);
    kernel.prologue_ns = 70;
    kernel.epilogue_ns = 40;
    const auto result = run(machine, kernel, {0}, lanes(1));
    CHECK(result.time == from_ns(70 + kFirstLineNs + 500 + 40));
    CHECK(result.events[Event::FillSectors] == 4);
}

TEST_CASE("Loads hide behind the math when it is long and there are stages to load into") {
    // 20 steps of 500 cycles: after the first line nothing waits.
    const Machine machine = load_machine("tiny");
    for (const Pipeline pipeline : {Pipeline::Multistage, Pipeline::WarpSpecialized}) {
        Kernel kernel = test::one_cta(20, 500, 3);
        kernel.pipeline = pipeline;
        const auto result = run(machine, kernel, {0}, lanes(1));
        // Two further lines are issued with the first, so their data is in the ports behind it.
        CHECK(static_cast<double>(result.time) / kPsPerNs == Approx(kFirstLineNs + 20 * 500).margin(0.01));
    }
}

TEST_CASE("A stage is refilled when the next step is issued, whoever issues the loads") {
    // Ten steps of 10 cycles that wait for their data, two stages. Multistage has one load on its way, which
    // leaves 30 cycles after a step's issue. Warp-specialized begins with two, and then step k's stage has to
    // wait for step k+1 too: it gains the first latency and no more, and each refill takes 20 cycles more
    // until the producer has heard of it.
    Machine machine = load_machine("tiny");
    Kernel kernel = test::one_cta(10, 10, 2, 0, 2);  // even lines: near
    CHECK(run(machine, kernel, {0}, lanes(1)).time == from_ns(10 * kFirstLineNs + 9 * 30 + 10));
    kernel.pipeline = Pipeline::WarpSpecialized;
    machine.latency.handshake_cycles = 20;
    CHECK(run(machine, kernel, {0}, lanes(1)).time == from_ns(9 * kFirstLineNs + 9 * 30 + 8 * 20 + 10));
}

TEST_CASE("A loop that waits for its math begins a step a gap after it, and loads after it") {
    const Machine machine = load_machine("tiny");
    Kernel kernel = test::one_cta(20, 500, 3);  // long steps: after the first line no data are waited for
    kernel.step_gap_cycles = 70;
    CHECK(static_cast<double>(run(machine, kernel, {0}, lanes(1)).time) / kPsPerNs ==
          Approx(kFirstLineNs + 20 * 500 + 19 * 70).margin(0.01));
    // Ten steps of 10 cycles with two stages: each waits for its line, which leaves 30 cycles after the math.
    kernel = test::one_cta(10, 10, 2, 0, 2);
    kernel.step_gap_cycles = 1;
    CHECK(run(machine, kernel, {0}, lanes(1)).time == from_ns(10 * (kFirstLineNs + 10) + 9 * 30));
}

TEST_CASE("A thread asks for a step's boxes an interval after the last step's, at the earliest") {
    // Stages are free long before: a line is there 170 ns after it was asked for.
    const Machine machine = load_machine("tiny");
    for (const Pipeline pipeline : {Pipeline::Multistage, Pipeline::WarpSpecialized}) {
        Kernel kernel = test::one_cta(20, 10, 4, 0, 2);  // even lines: near
        kernel.pipeline = pipeline;
        kernel.load_interval_cycles = 400;
        CHECK(run(machine, kernel, {0}, lanes(1)).time == from_ns(19 * 400 + kFirstLineNs + 10));
        // Two CTAs on each of the four SMs have a thread each, or it would take 400 ns more. Their lines come
        // a moment later than those of one alone, which find the ports empty.
        kernel.grid = {8, 1};
        kernel.programs.resize(8, kernel.programs[0]);
        const auto eight = run(machine, kernel, test::in_order(kernel), lanes(1), 2);
        CHECK(static_cast<double>(eight.time) / kPsPerNs == Approx(19 * 400 + kFirstLineNs + 10).margin(60));
        // What takes longer than that is not held up.
        kernel = test::one_cta(20, 500, 3);
        kernel.pipeline = pipeline;
        kernel.load_interval_cycles = 400;
        CHECK(static_cast<double>(run(machine, kernel, {0}, lanes(1)).time) / kPsPerNs ==
              Approx(kFirstLineNs + 20 * 500).margin(0.01));
    }
}

TEST_CASE("How long the producer takes to hear of a stage is uniform about its mean, step by step") {
    // As above: the last load waits for eight of them one after the other, so that the sum of as many shows.
    Machine machine = load_machine("tiny");
    Kernel kernel = test::one_cta(10, 10, 2, 0, 2);
    kernel.pipeline = Pipeline::WarpSpecialized;
    machine.latency.handshake_cycles = 20;
    machine.latency.handshake_jitter_cycles = 12;
    constexpr int kSeeds = 400;
    double sum = 0, squares = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SimulationOptions options = lanes(1);
        options.seed = seed;
        const double time = static_cast<double>(run(machine, kernel, {0}, options).time) / kPsPerNs;
        const double late = time - (9 * kFirstLineNs + 9 * 30 + 8 * 20 + 10);
        CHECK(std::abs(late) <= 8 * 6);
        sum += late;
        squares += late * late;
    }
    // Of a mean of 400 the standard error is a twentieth of the deviation, 0.5 ns.
    const double deviation = 12 * std::sqrt(8.0 / 12);
    CHECK(std::abs(sum / kSeeds) <= 4 * deviation / 20);
    CHECK(std::sqrt(squares / kSeeds) == Approx(deviation).epsilon(0.12));
}

TEST_CASE("A producer that waits for a stage asks for it a whole number of looks after it could have") {
    // As above, each of eight loads that wait for their stage, by less than 1000 cycles.
    Machine machine = load_machine("tiny");
    Kernel kernel = test::one_cta(10, 10, 2, 0, 2);
    machine.latency.poll_cycles = 1000;
    CHECK(run(machine, kernel, {0}, lanes(1)).time ==
          from_ns(10 * kFirstLineNs + 9 * 30 + 10));  // none polls
    kernel.pipeline = Pipeline::WarpSpecialized;
    CHECK(run(machine, kernel, {0}, lanes(1)).time == from_ns(8 * 1000 + kFirstLineNs + 10));
    // Where it could not have asked any sooner it does not wait.
    kernel.load_interval_cycles = 400;
    CHECK(run(machine, kernel, {0}, lanes(1)).time == from_ns(9 * 400 + kFirstLineNs + 10));
}

TEST_CASE("A CTA's prologue takes up to its jitter longer, and differs from tile to tile") {
    const Machine machine = load_machine("tiny");
    Kernel kernel = test::one_cta(10, 10, 2, 0, 2);
    const Picoseconds least = run(machine, kernel, {0}, lanes(1)).time;
    kernel.prologue_jitter_ns = 500;
    constexpr int kSeeds = 200;
    double sum = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        SimulationOptions options = lanes(1);
        options.seed = seed;
        const double late = static_cast<double>(run(machine, kernel, {0}, options).time - least) / kPsPerNs;
        CHECK(late >= 0);
        CHECK(late <= 500);
        sum += late;
    }
    // Of a mean of 200 the standard error is 500 / sqrt(12 * 200) = 10 ns.
    CHECK(sum / kSeeds == Approx(250).margin(40));
    CHECK(prologue_delay(500, 0, 1) != prologue_delay(500, 0, 2));
}

TEST_CASE("A cluster's loads leave when the last of its producers has heard of the stage") {
    // As above with two CTAs that wait for each other: of two times uniform over 12 ns the later one is 2 ns
    // beyond the mean.
    Machine machine = load_machine("tiny");
    Kernel kernel = test::one_cta(10, 10, 2, 0, 2);
    kernel.grid = {1, 2};
    kernel.programs.resize(2, kernel.programs[0]);
    kernel.cluster = {1, 2};
    kernel.pipeline = Pipeline::WarpSpecialized;
    machine.latency.handshake_cycles = 20;
    const auto time = [&](std::uint64_t seed) {
        SimulationOptions options = lanes(1);
        options.seed = seed;
        return static_cast<double>(run(machine, kernel, {0, 1}, options).time) / kPsPerNs;
    };
    const double without = time(0);
    machine.latency.handshake_jitter_cycles = 12;
    constexpr int kSeeds = 400;
    double late = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) late += (time(seed) - without) / kSeeds;
    CHECK(late == Approx(8 * 2).margin(4 * 12 * std::sqrt(8.0 / 18) / std::sqrt(kSeeds)));
}

TEST_CASE("With a single stage every step pays its latency") {
    const Machine machine = load_machine("tiny");
    const Kernel kernel = test::one_cta(10, 500, 1, 0, 2);  // even lines: near
    const auto result = run(machine, kernel, {0}, lanes(1));
    // 30 cycles from a step's end to the next one's loads (barrier, address, TMA instruction).
    CHECK(result.time == from_ns(10 * (kFirstLineNs + 500) + 9 * 30));
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
