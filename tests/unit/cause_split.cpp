// SPDX-License-Identifier: Apache-2.0
// Does the split of an error blame the right side? A GPU whose faults are known stands for the hardware: the
// model's own machine with one parameter changed, once of the schedule and once of the memory.
#include <cmath>
#include <string>

#include "load/machine_file.hpp"
#include "load/user_order.hpp"
#include "parallel/tbb_executor.hpp"
#include "report/error_causes.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/kernels.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

// The model's error in the sectors that the coalescer lets through, and its causes, when `hardware` is the
// GPU.
struct Split {
    double error;
    ErrorCauses causes;
};

Split split_against(const Machine& hardware, const std::string& name) {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=4096", "n=4096", "k=1024"}, machine);
    const NamedOrder order =
        over_grid(kernel, name, resolve_order(name, GridShape{32, 32}, OrderContext{}), machine);
    TbbExecutor executor;
    PredictOptions options;
    options.sample = 8;
    options.record_schedule = true;
    const Prediction counted = predict(hardware, kernel, order, options, executor);
    ValidationRow row;
    row.recorded.measured = counted.counters;
    row.predicted = predict(machine, kernel, order, options, executor).counters;
    options.schedule = &counted.schedule;
    row.replayed.emplace().counters = predict(machine, kernel, order, options, executor).counters;
    const Metric& tex = *find_metric("lts__t_sectors_srcunit_tex.sum");
    return {prediction_error(row, tex), causes_of(row, tex).value()};
}

}  // namespace

TEST_CASE("A fault of the schedule is blamed on the schedule alone") {
    // CTAs leave up to 3 us late, so that the next ones meet less. Under the recorded schedule nothing is
    // left.
    for (const char* order : {"row_major", "group_m:8"}) {
        Machine hardware = load_machine("h200");
        hardware.launch.exit_round_ns = 0;  // each exit is heard of by itself
        hardware.launch.exit_jitter_ns = 3000;
        const Split split = split_against(hardware, order);
        INFO(order << ": error " << split.error << " %");
        CHECK(std::abs(split.error) > 3);
        CHECK(split.causes.memory == Approx(0).margin(1e-9));
        CHECK(split.causes.schedule == Approx(split.error));
    }
}

TEST_CASE("A fault of the memory is blamed on the memory") {
    // A coalescer that merges nothing. It also makes CTAs wait differently, which is the schedule's part:
    // small.
    if (test::left_to_plain_builds()) return;  // one case is enough there
    for (const char* order : {"row_major", "group_m:8"}) {
        Machine hardware = load_machine("h200");
        hardware.coalescer.present = false;
        const Split split = split_against(hardware, order);
        INFO(order << ": error " << split.error << " %, schedule " << split.causes.schedule << " %");
        CHECK(std::abs(split.error) > 5);
        CHECK(std::abs(split.causes.schedule) < 0.25 * std::abs(split.error));
        CHECK(split.causes.memory + split.causes.schedule == Approx(split.error));
    }
}
