// SPDX-License-Identifier: Apache-2.0
// What a user waits for: loading models, and whole predictions.
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"

#include "line_stream.hpp"
#include "predict.hpp"

namespace l2lens::bench {
namespace {

std::vector<std::string> cube(std::int64_t side) {
    const std::string value = std::to_string(side);
    return {"m=" + value, "n=" + value, "k=" + value};
}

void load_gemm(benchmark::State& state) {
    const std::vector<std::string> arguments = cube(state.range(0));
    for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(load_kernel("gemm", arguments, &h200()));
}
BENCHMARK(load_gemm)->Arg(2048)->Arg(8192)->Unit(benchmark::kMillisecond);

void load_h200(benchmark::State& state) {
    for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(load_machine("h200"));
}
BENCHMARK(load_h200)->Unit(benchmark::kMillisecond);

// One order at --sample auto. Items are the lines that the kernel asks for, simulated or not.
void predict_gemm(benchmark::State& state) {
    const Kernel kernel = load_kernel("gemm", cube(state.range(0)), &h200());
    const NamedOrder order = over_grid(kernel, "group_m:8", make_order("group_m:8", grid_of(kernel)), h200());
    TbbExecutor executor(static_cast<int>(state.range(1)));
    double lines = 0;
    for ([[maybe_unused]] auto _ : state) {
        const Prediction prediction = predict(h200(), kernel, order, {}, executor);
        lines += prediction.counters.at("lrc__request_sectors_op_read_coalescable.sum") / kSectorsPerLine;
    }
    state.SetItemsProcessed(static_cast<std::int64_t>(lines));
}
BENCHMARK(predict_gemm)
    ->ArgNames({"cube", "threads"})
    ->Args({2048, 1})
    ->Args({2048, 2})
    ->Args({8192, 1})
    ->Args({8192, 2})
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace l2lens::bench
