// SPDX-License-Identifier: Apache-2.0
// The tile engine: an order by itself, what all orders of a kernel share, and whole predictions of many
// orders.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "kernel/residency.hpp"
#include "load/kernel_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "schedule/work.hpp"

#include "line_stream.hpp"
#include "predict.hpp"
#include "tile/box_table.hpp"
#include "tile/tile_simulation.hpp"

namespace l2lens::bench {
namespace {

Kernel cube(std::int64_t side) {
    const std::string value = std::to_string(side);
    return load_kernel("gemm", {"m=" + value, "n=" + value, "k=" + value}, &h200());
}

NamedOrder named(const Kernel& kernel, const std::string& name) {
    return over_grid(kernel, name, make_order(name, grid_of(kernel)), h200());
}

// One order, on one thread, without what is made once per kernel. Items are CTA-steps: a box of A and one of
// B.
void tile_order(benchmark::State& state, const std::string& name) {
    const Kernel kernel = cube(state.range(0));
    const NamedOrder order = named(kernel, name);
    const AddressMap map(h200());
    const LaneSample all(map.lanes(), map.lanes());
    const Work work(kernel, map, all);
    TbbExecutor executor(2);
    const int resident = ctas_per_sm(kernel.resources, h200());
    const BoxTable boxes(h200(), work, map, executor, StepUnits::of(work, resident));
    RunOptions options;
    for ([[maybe_unused]] auto _ : state) {
        benchmark::DoNotOptimize(
            simulate_tiles(h200(), work, boxes, order.tile_of_launch, resident, options));
    }
    const std::int64_t steps = kernel.tiles() * kernel.programs[0].phases[0].count;
    state.SetItemsProcessed(state.iterations() * steps);
    state.SetComplexityN(steps);
}
BENCHMARK_CAPTURE(tile_order, group_m_8, "group_m:8")
    ->ArgName("cube")
    ->RangeMultiplier(2)
    ->Range(2048, 16384)
    ->Complexity(benchmark::oAuto)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tile_order, row_major, "row_major")
    ->ArgName("cube")
    ->Arg(8192)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tile_order, hilbert, "hilbert")->ArgName("cube")->Arg(8192)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(tile_order, diagonal, "diagonal")
    ->ArgName("cube")
    ->Arg(8192)
    ->Unit(benchmark::kMillisecond);

// What all orders of a kernel share.
void prepare_tiles(benchmark::State& state) {
    const Kernel kernel = cube(state.range(0));
    TbbExecutor executor(static_cast<int>(state.range(1)));
    for ([[maybe_unused]] auto _ : state) {
        const PreparedKernel prepared(h200(), kernel, Mode::Grid, Engine::Tile, executor);
        benchmark::DoNotOptimize(&prepared);
    }
}
BENCHMARK(prepare_tiles)
    ->ArgNames({"cube", "threads"})
    ->Args({8192, 1})
    ->Args({8192, 2})
    ->Args({32768, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// A hundred orders of 8192^3, the kernel already read.
void predict_hundred_orders(benchmark::State& state) {
    const Kernel kernel = cube(8192);
    std::vector<NamedOrder> orders;
    for (int group = 1; group <= 50; ++group) {
        orders.push_back(named(kernel, "group_m:" + std::to_string(group)));
        orders.push_back(named(kernel, "serpentine_m:" + std::to_string(group)));
    }
    TbbExecutor executor(static_cast<int>(state.range(0)));
    PredictOptions options;
    options.engine = Engine::Tile;
    for ([[maybe_unused]] auto _ : state) {
        const PreparedKernel prepared(h200(), kernel, Mode::Grid, Engine::Tile, executor);
        executor.for_each(orders.size(), [&](std::size_t i) {
            SerialExecutor serial;
            benchmark::DoNotOptimize(predict(prepared, orders[i], options, serial));
        });
    }
    state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(orders.size()));
}
BENCHMARK(predict_hundred_orders)
    ->ArgName("threads")
    ->Arg(1)
    ->Arg(2)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

// One order of a launch of 65,536 tiles.
void predict_large_gemm(benchmark::State& state) {
    const Kernel kernel = cube(32768);
    const NamedOrder order = named(kernel, "group_m:8");
    TbbExecutor executor(static_cast<int>(state.range(0)));
    PredictOptions options;
    options.engine = Engine::Tile;
    for ([[maybe_unused]] auto _ : state)
        benchmark::DoNotOptimize(predict(h200(), kernel, order, options, executor));
}
BENCHMARK(predict_large_gemm)->ArgName("threads")->Arg(2)->UseRealTime()->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace l2lens::bench
