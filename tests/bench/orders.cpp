// SPDX-License-Identifier: Apache-2.0
// Tiles a second of the built-in orders.
#include <string>

#include <benchmark/benchmark.h>

#include "order/order.hpp"

namespace l2lens::bench {
namespace {

void order(benchmark::State& state, const std::string& name) {
    const auto side = static_cast<std::int32_t>(state.range(0));
    const GridShape grid{side, side};
    for ([[maybe_unused]] auto _ : state) benchmark::DoNotOptimize(make_order(name, grid));
    state.SetItemsProcessed(state.iterations() * grid.tiles());
}

BENCHMARK_CAPTURE(order, row_major, "row_major")->Arg(64)->Arg(512);
BENCHMARK_CAPTURE(order, group_m_8, "group_m:8")->Arg(64)->Arg(512);
BENCHMARK_CAPTURE(order, hilbert, "hilbert")->Arg(64)->Arg(512);
BENCHMARK_CAPTURE(order, cutlass3_8_along_m, "cutlass3:8:along_m")->Arg(64)->Arg(512);

}  // namespace
}  // namespace l2lens::bench
