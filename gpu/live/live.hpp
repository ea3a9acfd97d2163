// SPDX-License-Identifier: Apache-2.0
// A kernel in a given tile order on the GPU in this machine, with its counters: what `validate --live` holds
// predictions against.
//
//   describe_live(kernel)             -> its parameters and tile grid (no GPU needed)
//   make_order(..., grid)             -> launch id -> tile
//   run_live(kernel, order, options)  -> time, counters, and who ran what when
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "order/order.hpp"

#include "gpu/counters/counter_session.hpp"
#include "gpu/kernels/launch.hpp"
#include "gpu/live/live_params.hpp"

namespace l2lens::gpu {

struct LiveKernel {
    std::string name;  // "gemm"
    ParamList params;  // as models/kernels/NAME.lua names them; absent ones take its defaults
};

// What a kernel is before it meets a GPU.
struct LiveShape {
    ParamList params;  // resolved, in the order of the recorded files' columns
    GridShape grid;
    int cluster_rows = 1;  // of an OrderContext
    int cluster_columns = 1;
    std::int32_t outer = 1;  // equal bands of the grid's rows, one after the other, each walked in the order

    // What an order walks.
    GridShape band() const { return {grid.rows / outer, grid.columns}; }
};

enum class CacheState { Cold, Warm };  // before a counted launch: flushed, or as the same launch left it

struct LiveOptions {
    LaunchMode mode = LaunchMode::Grid;
    std::vector<std::string> metrics;  // empty: time only, and no CUPTI is needed
    int repeats = 3;                   // of the whole set of counter passes
    int timed_launches = 20;           // back to back, for the time; 0: none
    CacheState cache = CacheState::Cold;
    bool record_schedule = false;
    std::uint64_t seed = 1;  // of the operands
};

struct LiveResult {
    std::string gpu;  // "NVIDIA H200"
    LiveShape shape;
    int ctas_per_sm = 0;
    // Median of back-to-back launches; gpu__time_duration.sum is that of the kernels of a cold one.
    double time_us = 0;
    double time_us_min = 0;
    double time_us_max = 0;
    int passes = 0;                      // launches that one reading of all metrics took
    std::vector<CounterValue> counters;  // in the order of options.metrics
    std::vector<TileRecord> schedule;    // by launch id, times from the first start on
};

// The kernels there are, and one of them with its parameters checked. Throws BadInput.
std::vector<std::string> live_kernels();
LiveShape describe_live(const LiveKernel& kernel);

// Throws BadInput for an order that is not a bijection over the kernel's grid or cannot be cut into its
// clusters, Unavailable when this machine has no suitable GPU or gives no counters.
LiveResult run_live(const LiveKernel& kernel, std::span<const TileCoord> order, const LiveOptions& options);

// The metrics of the recorded files in traces/h200 that this chip has.
std::vector<std::string> recorded_metrics(const std::string& chip);

}  // namespace l2lens::gpu
