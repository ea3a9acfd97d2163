// SPDX-License-Identifier: Apache-2.0
// The yardstick over all lines that a GEMM asks for: what a whole exact prediction is held against.
#include <algorithm>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "kernel/box_lines.hpp"
#include "load/kernel_file.hpp"
#include "order/order.hpp"

#include "bare_lru.hpp"
#include "line_stream.hpp"
#include "predict.hpp"

namespace l2lens::bench {
namespace {

// The lines of each step of the loads of a row or column of tiles.
using Stripe = std::vector<std::vector<LineNumber>>;

Stripe stripe_of(const Kernel& kernel, const BoxWalk& box, std::int64_t steps) {
    Stripe stripe(static_cast<std::size_t>(steps));
    for (std::int64_t k = 0; k < steps; ++k) {
        for_each_line(
            kernel.tensors[static_cast<std::size_t>(box.tensor)], box, k,
            [&](const LineRequest& request) { stripe[static_cast<std::size_t>(k)].push_back(request.line); });
    }
    return stripe;
}

// CTAs of a wave in lockstep, one thread. Items are lines.
void bare_lru_gemm(benchmark::State& state) {
    const std::string side = std::to_string(state.range(0));
    const Kernel kernel = load_kernel("gemm", {"m=" + side, "n=" + side, "k=" + side}, &h200());
    const TileSequence tiles = make_order("group_m:8", grid_of(kernel));
    const std::int64_t steps = kernel.programs[0].phases[0].count;
    std::vector<Stripe> rows, columns;
    for (std::int64_t row = 0; row < kernel.tile_rows(); ++row) {
        const auto first = static_cast<std::size_t>(row * kernel.tile_columns());
        rows.push_back(stripe_of(kernel, kernel.programs[first].phases[0].loads[0], steps));
    }
    for (std::int64_t column = 0; column < kernel.tile_columns(); ++column) {
        const auto& program = kernel.programs[static_cast<std::size_t>(column)];
        columns.push_back(stripe_of(kernel, program.phases[0].loads[1], steps));
    }
    const std::size_t wave = h200().sms.size();
    std::int64_t lines = 0;
    for ([[maybe_unused]] auto _ : state) {
        BareLru lru(h200().l2_bytes());
        std::int64_t hits = 0;
        lines = 0;
        for (std::size_t first = 0; first < tiles.size(); first += wave) {
            const std::size_t end = std::min(tiles.size(), first + wave);
            for (std::size_t k = 0; k < static_cast<std::size_t>(steps); ++k) {
                for (std::size_t id = first; id < end; ++id) {
                    const auto& a = rows[static_cast<std::size_t>(tiles[id].row)][k];
                    const auto& b = columns[static_cast<std::size_t>(tiles[id].column)][k];
                    for (const LineNumber line : a) hits += lru.touch(line) ? 1 : 0;
                    for (const LineNumber line : b) hits += lru.touch(line) ? 1 : 0;
                    lines += static_cast<std::int64_t>(a.size() + b.size());
                }
            }
        }
        benchmark::DoNotOptimize(hits);
    }
    state.SetItemsProcessed(state.iterations() * lines);
}
BENCHMARK(bare_lru_gemm)->ArgName("cube")->Arg(8192)->Iterations(2)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace l2lens::bench
