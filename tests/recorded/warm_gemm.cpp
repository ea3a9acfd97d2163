// SPDX-License-Identifier: Apache-2.0
// What is merged, and how long does a step take, when the L2 has all that a GEMM reads? One wave of the
// warp-specialized GEMM of gpu/kernels behind a launch like it (traces/h200/warm_gemm.csv): nothing there was
// fitted on these rows.
#include <map>
#include <string>
#include <vector>

#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "load/user_order.hpp"
#include "parallel/tbb_executor.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
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
// By what the launch of 64 steps has more than that of 32.
struct Steps {
    Counted recorded, predicted;
};

Counted predicted(const test::RecordedCells& row, const Machine& machine) {
    std::vector<std::string> arguments{"pipeline=warp_specialized"};
    for (const char* name : {"m", "n", "k", "bm", "bn", "stages", "warps"})
        arguments.push_back(std::string(name) + "=" + row.text(name));
    const Kernel kernel = load_kernel("gemm", arguments, &machine);
    const GridShape tiles{static_cast<std::int32_t>(kernel.tile_rows()),
                          static_cast<std::int32_t>(kernel.tile_columns())};
    const NamedOrder order =
        over_grid(kernel, row.text("order"), resolve_order(row.text("order"), tiles, {}), machine);
    PredictOptions options;
    options.sample = 4;
    options.warm_l2 = true;
    TbbExecutor executor(2);
    const Prediction prediction = predict(machine, kernel, order, options, executor);
    return {prediction.counters.at(kSectors), prediction.counters.at(kCycles)};
}

// Of the launches with these cells.
Steps steps(const test::Cells& cells) {
    static const Machine machine = load_machine("h200");
    Steps steps;
    for (const auto& row : test::recorded_rows("warm_gemm.csv", cells)) {
        const double sign = row["k"] > 2048 ? 1 : -1;
        const Counted model = predicted(row, machine);
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
            const Steps s = steps({{"bm", shape.bm},
                                   {"bn", shape.bn},
                                   {"m", shape.m},
                                   {"n", shape.n},
                                   {"stages", shape.stages},
                                   {"warps", shape.warps},
                                   {"order", order}});
            const double asked = 132.0 * 32 * (std::stod(shape.bm) + std::stod(shape.bn)) * 64 * 2 / 32;
            CHECK(s.predicted.sectors / asked ==
                  Approx(s.recorded.sectors / asked).margin(shape.stages == "3" ? 0.12 : 0.08));
            CHECK(s.predicted.cycles == Approx(s.recorded.cycles).epsilon(0.08));
        }
    }
}
