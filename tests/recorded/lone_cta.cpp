// SPDX-License-Identifier: Apache-2.0
// How long is a load's way round: refill, TMA, L2, DRAM, and the step that waited for it? One CTA of the
// warp-specialized GEMM of gpu/kernels with the GPU to itself, of two lengths (traces/h200/lone_cta.csv).
#include <map>
#include <string>
#include <vector>

#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/ordered.hpp"
#include "support/recorded.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

double predicted_ns(const test::RecordedCells& row, const std::string& pipeline, const Machine& machine) {
    SerialExecutor serial;
    std::vector<std::string> arguments = test::arguments_of(row, {"m", "n", "k", "bm", "bn", "stages"});
    arguments.push_back("pipeline=" + pipeline);
    const Kernel kernel = load_kernel("gemm", arguments, &machine);
    const NamedOrder order = test::order_of("row_major", kernel, machine);
    PredictOptions options;
    options.sample = 1;
    return predict(machine, kernel, order, options, serial).counters.at("gpu__time_duration.sum");
}

struct Step {
    double recorded = 0;  // ns
    double predicted = 0;
    double without_handshake = 0;
};

// Of the tiles and stages of the file: what the longer launch takes more, by steps.
std::map<std::string, Step> steps() {
    const Machine machine = load_machine("h200");
    std::map<std::string, Step> of_shape;
    for (const auto& row : test::recorded_rows("lone_cta.csv")) {
        const std::string shape = row.text("bm") + " x " + row.text("bn") + ", stages=" + row.text("stages");
        const double sign = row["k"] > 8192 ? 1 : -1;
        const double part = sign / ((32768 - 8192) / 64.0);
        Step& step = of_shape[shape];
        step.recorded += part * row["gpu__time_duration.sum"];
        step.predicted += part * predicted_ns(row, "warp_specialized", machine);
        step.without_handshake += part * predicted_ns(row, "multistage", machine);
    }
    return of_shape;
}

}  // namespace

TEST_CASE("A step that waits for its loads takes as long as on the GPU") {
    for (const auto& [shape, step] : steps()) {
        INFO(shape);
        // Seen: 0.099 with two stages of 64 x 64, 0.024 at most with tiles of 128 x 128. With 200 cycles for
        // latency.handshake, as it was measured, 0.071 and 0.029; but then GEMMs take 1 % longer.
        CHECK(step.predicted == Approx(step.recorded).epsilon(0.1));
        CHECK(step.without_handshake < 0.97 * step.recorded);
    }
}
