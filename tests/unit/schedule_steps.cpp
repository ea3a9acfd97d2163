// SPDX-License-Identifier: Apache-2.0
// What the steps of a CTA's loop wait for: their data, the math before, a free stage, the thread that asks.
#include <cmath>
#include <cstdint>

#include "load/machine_file.hpp"
#include "schedule/pace.hpp"
#include "schedule/simulation.hpp"
#include "support/catch.hpp"
#include "support/kernels.hpp"
#include "support/launches.hpp"

using namespace l2lens;
using test::kFirstLineNs;
using test::lanes;
using test::run;

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
