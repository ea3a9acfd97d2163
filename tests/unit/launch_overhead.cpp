// SPDX-License-Identifier: Apache-2.0
// What a launch takes besides its CTAs: the overhead around it, and the writing back of what it leaves.
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "load/user_order.hpp"
#include "support/catch.hpp"
#include "support/ordered.hpp"
#include "support/stores.hpp"

#include "predict.hpp"

using namespace l2lens;

TEST_CASE("What a launch takes around its CTAs is time, once for each launch, and nothing else") {
    Machine machine = load_machine("h200");
    Kernel kernel = load_kernel("copy", {"m=256", "n=256"}, &machine);
    append_launches(kernel, load_kernel("copy", {"m=256", "n=256"}, &machine));
    NamedOrder order = test::order_of("row_major", kernel, machine);
    order.then.push_back(order.tile_of_launch);
    SerialExecutor serial;
    const auto run = [&](double overhead_ns) {
        machine.launch.overhead_ns = overhead_ns;
        return predict(machine, kernel, order, {}, serial);
    };
    const Prediction without = run(0), with = run(1500);
    CHECK(with.time_ns == Approx(without.time_ns + 2 * 1500));
    CHECK(with.counters.at("gpu__time_duration.sum") == Approx(with.time_ns));
    CHECK(with.counters.at("sm__cycles_active.avg") == without.counters.at("sm__cycles_active.avg"));
    CHECK(with.counters.at("lts__t_sectors.sum") == without.counters.at("lts__t_sectors.sum"));
}

// 512 MiB of writes and nothing else take DRAM at least as long as what does not stay in the L2.
TEST_CASE("A launch that only writes ends when DRAM has taken what the L2 does not keep") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::fill(512);
    SerialExecutor serial;
    const NamedOrder order = over_grid(kernel, "row_major", resolve_order("row_major", {512, 1}), machine);
    for (const Engine engine : {Engine::Line, Engine::Tile}) {
        PredictOptions options;
        options.engine = engine;
        const Prediction fill = predict(machine, kernel, order, options, serial);
        const double written = fill.counters.at("dram__sectors_write.sum") * kSectorBytes;
        CHECK(written >= static_cast<double>((512 << 20) - machine.l2_bytes()));
        const double least = written / machine.bandwidth.dram_bytes_per_ns;
        CHECK(fill.time_ns >= least);
        CHECK(fill.time_ns <= 1.05 * least + machine.launch.overhead_ns + 2000);
    }
}
