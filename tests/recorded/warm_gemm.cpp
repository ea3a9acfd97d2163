// SPDX-License-Identifier: Apache-2.0
// What is merged, and how long does a step take, when the L2 has all that a GEMM reads? One wave of the
// warp-specialized GEMM of gpu/kernels behind a launch like it (traces/h200/warm_gemm.csv): nothing there was
// fitted on these rows. And of Triton's (triton_steps.csv), whose step_gap_cycles is of these rows.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/ordered.hpp"
#include "support/recorded.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

constexpr const char* kSectors = "lts__t_sectors_srcunit_tex.sum";
constexpr const char* kCycles = "sm__cycles_active.avg";

// Of all CTAs together, or of an SM in the mean.
struct Counted {
    double sectors = 0, cycles = 0;
};

// Launches that differ in their steps, and the kernel file's name for the kernel.
struct Recording {
    const char* file;
    const char* pipeline;
    double fewer;  // k of the shorter one
};
constexpr Recording kOurs{"warm_gemm.csv", "warp_specialized", 2048};
constexpr Recording kTritons{"triton_steps.csv", "multistage", 1024};

// By what the launch of more steps has more than the other one.
struct Steps {
    Counted recorded, predicted;
};

Kernel kernel_of(const test::RecordedCells& row, const Machine& machine, const Recording& recording) {
    std::vector<std::string> arguments =
        test::arguments_of(row, {"m", "n", "k", "bm", "bn", "bk", "stages", "warps"});
    arguments.push_back(std::string("pipeline=") + recording.pipeline);
    return load_kernel("gemm", arguments, &machine);
}

// Of 256 x 128 tiles runs differ by a tenth of what is asked for. These launches found all of their operands
// in both partitions; in some places, which seeds draw, a part does not stay there: of a few the four that
// miss least.
Counted predicted(const test::RecordedCells& row, const Machine& machine, const Kernel& kernel) {
    constexpr std::size_t kRuns = 4;
    constexpr std::uint64_t kTried = 10;
    const NamedOrder order = test::order_of(row.text("order"), kernel, machine);
    PredictOptions options;
    options.sample = 8;
    options.warm_l2 = true;
    TbbExecutor executor(2);
    std::vector<std::pair<double, Counted>> runs;  // by what they fill
    for (; options.seed < kTried; ++options.seed) {
        const Prediction run = predict(machine, kernel, order, options, executor);
        runs.push_back({run.counters.at("lts__d_sectors_fill_device.sum"),
                        {run.counters.at(kSectors), run.counters.at(kCycles)}});
    }
    std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Counted mean;
    for (std::size_t i = 0; i < kRuns; ++i) {
        mean.sectors += runs[i].second.sectors / kRuns;
        mean.cycles += runs[i].second.cycles / kRuns;
    }
    return mean;
}

// Of the launches with these cells.
Steps steps(const Recording& recording, const test::Cells& cells) {
    static const Machine machine = load_machine("h200");
    Steps steps;
    for (const auto& row : test::recorded_rows(recording.file, cells)) {
        const double sign = row["k"] > recording.fewer ? 1 : -1;
        const Kernel kernel = kernel_of(row, machine, recording);
        const Counted model = predicted(row, machine, kernel);
        steps.recorded.sectors += sign * row[kSectors];
        steps.recorded.cycles += sign * row[kCycles];
        steps.predicted.sectors += sign * model.sectors;
        steps.predicted.cycles += sign * model.cycles;
    }
    return steps;
}

}  // namespace

TEST_CASE("Hits merge as they do on the GPU, and a step takes as many cycles") {
    if (test::left_to_plain_builds()) return;
    struct Shape {
        std::string bm, bn, m, n, stages, warps;
    };
    const std::vector<Shape> shapes{
        {"128", "128", "1408", "1536", "3", "4"}, {"128", "128", "1408", "1536", "4", "4"},
        {"128", "128", "1408", "1536", "6", "4"}, {"128", "128", "1408", "1536", "4", "8"},
        {"128", "256", "1408", "3072", "4", "8"}, {"256", "128", "2816", "1536", "4", "8"},
    };
    for (const Shape& shape : shapes) {
        for (const char* order : {"row_major", "column_major"}) {
            INFO(shape.bm << " x " << shape.bn << ", " << shape.warps << " warps, " << shape.stages
                          << " stages, " << order);
            const Steps s = steps(kOurs, {{"bm", shape.bm},
                                          {"bn", shape.bn},
                                          {"m", shape.m},
                                          {"n", shape.n},
                                          {"stages", shape.stages},
                                          {"warps", shape.warps},
                                          {"order", order}});
            const double asked = 132.0 * 32 * (std::stod(shape.bm) + std::stod(shape.bn)) * 64 * 2 / 32;
            CHECK(s.predicted.sectors / asked ==
                  Approx(s.recorded.sectors / asked).margin(shape.stages == "3" ? 0.12 : 0.09));
            CHECK(s.predicted.cycles == Approx(s.recorded.cycles).epsilon(0.08));
        }
    }
}

// But for 64 x 128 tiles in row_major: there they merge less on the GPU than here, and a step takes 453
// cycles for a reason that is not known (docs/fidelity.md).
TEST_CASE("With stages to spare a step takes what the thread that asks for its boxes takes") {
    if (test::left_to_plain_builds()) return;
    struct Shape {
        std::string bn, order;
        double math;  // cycles
    };
    for (const Shape& shape :
         {Shape{"64", "row_major", 128}, Shape{"128", "column_major", 256}, Shape{"128", "group_m:4", 256}}) {
        INFO("64 x " << shape.bn << ", " << shape.order);
        const Steps s =
            steps(kOurs, {{"bm", "64"}, {"bn", shape.bn}, {"stages", "8"}, {"order", shape.order}});
        INFO("recorded " << s.recorded.cycles / 32 << " cycles a step, predicted "
                         << s.predicted.cycles / 32);
        CHECK(s.recorded.cycles / 32 > 1.3 * shape.math);
        CHECK(s.predicted.cycles == Approx(s.recorded.cycles).epsilon(0.02));
    }
}

TEST_CASE(
    "A step of Triton's takes its math alone with four warps, and with eight waits for the math before") {
    if (test::left_to_plain_builds()) return;
    struct Shape {
        std::string n, bn, bk, warps, stages;
        double tolerance;
    };
    // With two stages a step is the whole way round of its loads: of 128 x 256 tiles 11 % too long in the
    // model, some of whose lines miss as its buffers lie (8 % too short where all of them hit).
    const std::vector<Shape> shapes{
        {"1536", "128", "64", "4", "4", 0.03},  {"1536", "128", "64", "8", "3", 0.03},
        {"1536", "128", "64", "8", "4", 0.03},  {"1536", "128", "32", "8", "4", 0.05},
        {"1536", "128", "128", "8", "3", 0.03}, {"3072", "256", "64", "8", "3", 0.03},
        {"3072", "256", "64", "8", "2", 0.12},
    };
    for (const Shape& shape : shapes) {
        INFO("128 x " << shape.bn << " x " << shape.bk << ", " << shape.warps << " warps, " << shape.stages
                      << " stages");
        const test::Cells cells{{"m", "1408"},           {"n", shape.n},   {"bn", shape.bn},
                                {"bk", shape.bk},        {"mode", "grid"}, {"warps", shape.warps},
                                {"stages", shape.stages}};
        const Steps s = steps(kTritons, cells);
        const double steps_more = 1024 / std::stod(shape.bk);
        INFO("recorded " << s.recorded.cycles / steps_more << " cycles a step, predicted "
                         << s.predicted.cycles / steps_more);
        CHECK(s.predicted.cycles == Approx(s.recorded.cycles).epsilon(shape.tolerance));
    }
}
