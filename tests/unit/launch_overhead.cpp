// SPDX-License-Identifier: Apache-2.0
// Is launch.overhead time of a launch, and of nothing inside it?
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "load/user_order.hpp"
#include "support/catch.hpp"

#include "predict.hpp"

using namespace l2lens;

TEST_CASE("What a launch takes around its CTAs is time, once for each launch, and nothing else") {
    Machine machine = load_machine("h200");
    Kernel kernel = load_kernel("copy", {"m=256", "n=256"}, &machine);
    append_launches(kernel, load_kernel("copy", {"m=256", "n=256"}, &machine));
    const GridShape grid{static_cast<std::int32_t>(kernel.tile_rows()),
                         static_cast<std::int32_t>(kernel.tile_columns())};
    NamedOrder order = over_grid(kernel, "row_major", resolve_order("row_major", grid), machine);
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
