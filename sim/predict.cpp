// SPDX-License-Identifier: Apache-2.0
#include "predict.hpp"

#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "baseline/baseline.hpp"
#include "counters/metrics.hpp"
#include "kernel/residency.hpp"
#include "order/cluster.hpp"
#include "schedule/simulation.hpp"

namespace l2lens {
namespace {

// `--sample auto`: as many slices as give this many line requests, at least three. It keeps an 8192^3 GEMM at
// a second or two, and gives small kernels every line.
constexpr double kRequestsPerRun = 8.5e6;
constexpr int kFewestLanes = 3;

int checked_residency(const Machine& machine, const Kernel& kernel, Mode mode) {
    const int resident = ctas_per_sm(kernel.resources, machine);
    if (resident == 0) throw BadInput(kernel.name + ": " + why_no_cta_fits(kernel.resources, machine));
    return mode == Mode::Grid ? resident : 1;  // persistent kernels launch one CTA per SM
}

double requested_lines(const Work& work) {
    double bytes = 0;
    for (std::size_t w = 0; w < work.walks(); ++w) {
        const auto id = static_cast<std::int32_t>(w);
        bytes += work.walk_bytes(id) * static_cast<double>(work.walk_uses(id));
    }
    return bytes / kLineBytes;
}

int lanes_to_simulate(const Machine& machine, const Work& work, int sample) {
    const int lanes = machine.l2.slices_per_partition;
    if (sample > 0) return std::max(1, static_cast<int>(std::lround(static_cast<double>(lanes) / sample)));
    const double wanted = lanes * kRequestsPerRun / std::max(requested_lines(work), 1.0);
    return static_cast<int>(
        std::clamp(std::round(wanted), std::min<double>(kFewestLanes, lanes), static_cast<double>(lanes)));
}

SimulationOptions simulation_options(const Machine& machine, const Work& work,
                                     const PredictOptions& options) {
    SimulationOptions simulation;
    simulation.mode = options.mode;
    simulation.lanes = lanes_to_simulate(machine, work, options.sample);
    simulation.seed = options.seed;
    simulation.warm_l2 = options.warm_l2;
    simulation.progress = options.progress;
    simulation.stop_requested = options.stop_requested;
    simulation.sink = options.sink;
    simulation.record_schedule = options.record_schedule;
    simulation.schedule = options.schedule;
    return simulation;
}

// Several seeds run side by side; one seed with many lanes spreads its lanes and GPCs.
std::vector<SimulationResult> run_seeds(const Machine& machine, const Kernel& kernel, const NamedOrder& order,
                                        int resident, const SimulationOptions& base, int seeds,
                                        Executor& executor) {
    std::vector<SimulationResult> results(static_cast<std::size_t>(seeds));
    SerialExecutor serial;
    constexpr int kLanesWorthSpreading = 12;  // fewer finish before the threads have met
    Executor& inside = seeds == 1 && base.lanes >= kLanesWorthSpreading ? executor : serial;
    executor.for_each(results.size(), [&](std::size_t i) {
        SimulationOptions options = base;
        options.seed = base.seed + i;
        if (i > 0) options.progress = nullptr;
        if (i > 0) options.sink = nullptr;
        if (i > 0) options.record_schedule = false;
        results[i] = Simulation(machine, kernel, order.tile_of_launch, resident, options).run(inside);
    });
    return results;
}

// Times averaged over the seeds, and what one counted event of all of them together stands for.
RunTotals mean_of(const std::vector<SimulationResult>& results) {
    RunTotals totals;
    totals.time_ns = totals.sm_cycles = totals.scale = 0;
    const auto runs = static_cast<double>(results.size());
    for (const SimulationResult& result : results) {
        totals.time_ns += static_cast<double>(result.time) / kPsPerNs / runs;
        totals.sm_cycles += result.sm_cycles / runs;
        totals.scale += result.scale / runs / runs;
    }
    return totals;
}

}  // namespace

NamedOrder over_grid(const Kernel& kernel, const std::string& name, const TileSequence& sequence,
                     const Machine& machine) {
    const GridShape grid{static_cast<std::int32_t>(kernel.tile_rows()),
                         static_cast<std::int32_t>(kernel.tile_columns())};
    NamedOrder order{name, {}, check_order(sequence, grid), {}};
    if (!order.check.bijection()) {
        throw BadInput("order '" + name + "' is not a bijection on " + std::to_string(grid.rows) + "x" +
                       std::to_string(grid.columns) + " tiles: " + order.check.describe());
    }
    const auto wave =
        static_cast<std::int64_t>(machine.sms.size()) * std::max(ctas_per_sm(kernel.resources, machine), 1);
    order.footprint = wave_footprint(sequence, wave);
    const ClusterShape cluster{kernel.cluster[0], kernel.cluster[1]};
    if (!launches_clusters(sequence, cluster)) {
        throw BadInput("order '" + name + "' does not launch clusters of " + std::to_string(cluster.rows) +
                       "x" + std::to_string(cluster.columns) + " tiles together");
    }
    for (std::int64_t outer = 0; outer < kernel.outer_tiles(); ++outer) {
        for (const TileCoord& tile : sequence) {
            order.tile_of_launch.push_back(
                tile == kNoTile
                    ? -1
                    : static_cast<std::int32_t>((outer * grid.rows + tile.row) * grid.columns + tile.column));
        }
    }
    return order;
}

Prediction predict(const Machine& machine, const Kernel& kernel, const NamedOrder& order,
                   const PredictOptions& options, Executor& executor) {
    const int resident = checked_residency(machine, kernel, options.mode);
    const AddressMap map(machine);
    const LaneSample all_lanes(map.lanes(), map.lanes());
    const Work work(kernel, map, all_lanes);

    // Schedule and memory: the event loop.
    const SimulationOptions simulation = simulation_options(machine, work, options);
    auto results = run_seeds(machine, kernel, order, resident, simulation, options.seeds, executor);

    // Counters: what the loop counted, named as the hardware names it, beside what simpler models say.
    Events events;
    for (const SimulationResult& result : results) events += result.events;
    RunTotals totals = mean_of(results);
    totals.slices = machine.slices();
    totals.l2_ghz = machine.clock.l2_ghz;
    totals.ctas_per_sm = resident;
    const std::int64_t wave = static_cast<std::int64_t>(machine.sms.size()) * resident;
    totals.waves = static_cast<double>(order.tile_of_launch.size()) / static_cast<double>(wave);
    totals.closed_form_hit_rate_pct = closed_form_hit_rate(work, order.tile_of_launch, wave);
    totals.flat_lru_hit_rate_pct = flat_lru_hit_rate(work, order.tile_of_launch, wave, machine.l2_bytes());
    totals.channel_max_over_mean = channel_max_over_mean(work, map);

    Prediction prediction;
    prediction.order = order.name;
    prediction.mode = options.mode;
    prediction.sample = static_cast<int>(std::lround(static_cast<double>(map.lanes()) / simulation.lanes));
    prediction.seeds = options.seeds;
    prediction.time_ns = totals.time_ns;
    prediction.ctas_per_sm = resident;
    prediction.waves = totals.waves;
    prediction.counters = evaluate_metrics(MetricKind::Hardware, events, totals);
    prediction.metrics = evaluate_metrics(MetricKind::Neutral, events, totals);
    prediction.footprint = order.footprint;
    prediction.schedule = std::move(results.front().schedule);
    return prediction;
}

}  // namespace l2lens
