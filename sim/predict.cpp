// SPDX-License-Identifier: Apache-2.0
#include "predict.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "baseline/baseline.hpp"
#include "counters/metrics.hpp"
#include "counters/sampling_error.hpp"
#include "kernel/residency.hpp"
#include "order/cluster.hpp"
#include "schedule/fences.hpp"
#include "schedule/simulation.hpp"

#include "observe/detail_recorder.hpp"
#include "tile/box_table.hpp"
#include "tile/tile_simulation.hpp"

namespace l2lens {
namespace {

// `--sample auto`: as many slices as give this many line requests, at least three. It keeps an 8192^3 GEMM at
// a second or two, and gives small kernels every line.
constexpr double kRequestsPerRun = 8.5e6;
constexpr int kFewestLanes = 3;
// Where SMs have several CTAs, a quarter at least: CPCs that take turns at full slices drive their CTAs
// apart, and of fewer slices no box waits for the fullest ones. row_major of 64x64 tiles, 8192^3, hits 52 %
// with 1/16 and 42 % with 1/4; an H200 counted 41, and so do all slices.
constexpr int kCoarsestOfSharedSms = 4;

double requested_lines(const Work& work) {
    double bytes = 0;
    for (std::size_t w = 0; w < work.walks(); ++w) {
        const auto id = static_cast<std::int32_t>(w);
        bytes += work.walk_bytes(id) * static_cast<double>(work.walk_uses(id));
    }
    return bytes / kLineBytes;
}

int lanes_to_simulate(const Machine& machine, double lines, int ctas_of_sm, int sample) {
    const int lanes = machine.l2.slices_per_partition;
    if (sample > 0) return std::max(1, static_cast<int>(std::lround(static_cast<double>(lanes) / sample)));
    const double wanted = lanes * kRequestsPerRun / std::max(lines, 1.0);
    const int fewest = std::max(kFewestLanes, ctas_of_sm > 1 ? lanes / kCoarsestOfSharedSms : 0);
    return static_cast<int>(
        std::clamp(std::round(wanted), std::min<double>(fewest, lanes), static_cast<double>(lanes)));
}

}  // namespace

struct PreparedKernel::Parts {
    Parts(const Machine& m, const Kernel& k, Mode launched, Engine e)
        : machine(m),
          kernel(k),
          mode(launched),
          engine(e),
          resident(resident_ctas(m, k, launched)),
          map(m),
          all_lanes(map.lanes(), map.lanes()),
          work(k, map, all_lanes) {}

    std::int64_t wave() const { return static_cast<std::int64_t>(machine.sms.size()) * resident; }

    const Machine& machine;
    const Kernel& kernel;
    const Mode mode;
    const Engine engine;
    const int resident;  // CTAs per SM
    const AddressMap map;
    const LaneSample all_lanes;
    const Work work;
    std::optional<BoxTable> boxes;             // of the tile engine
    std::vector<double> slice_requests;        // sectors, by slice number
    std::vector<std::unique_ptr<Parts>> then;  // of the launches that follow
};

PreparedKernel::PreparedKernel(const Machine& machine, const Kernel& kernel, Mode mode, Engine engine,
                               Executor& executor) {
    if (engine == Engine::Tile) {
        const std::string what = beyond_tile_engine(machine, kernel);
        if (!what.empty()) throw BadInput("the tile engine knows no " + what + ": take --engine line");
    }
    auto parts = std::make_unique<Parts>(machine, kernel, mode, engine);
    for (const Kernel& next : kernel.then)
        parts->then.push_back(std::make_unique<Parts>(machine, next, mode, engine));
    if (engine == Engine::Tile) {
        // Persistent CTAs keep or lose step with each other over the whole launch: each step counts.
        const StepUnits units =
            mode == Mode::Grid ? StepUnits::of(parts->work, parts->resident) : StepUnits{};
        parts->boxes.emplace(machine, parts->work, parts->map, executor, units);
    }
    parts->slice_requests = requested_per_slice(parts->work, parts->map, executor);
    parts_ = std::move(parts);
}

PreparedKernel::~PreparedKernel() = default;

namespace {

RunOptions run_options(const PreparedKernel::Parts& parts, const PredictOptions& options) {
    RunOptions run;
    run.mode = parts.mode;
    run.seed = options.seed;
    run.warm_l2 = options.warm_l2;
    run.progress = options.progress;
    run.stop_requested = options.stop_requested;
    run.record_schedule = options.record_schedule || options.details != nullptr;
    run.schedule = options.schedule;
    run.recorded_paces = options.recorded_paces;
    return run;
}

// One seed's run, and what somebody who looked on has kept of it.
struct Run {
    SimulationResult result;
    std::optional<RunDetails> details;
};

// `inside`: the run's own parallelism.
Run run_lines(const PreparedKernel::Parts& parts, const NamedOrder& order, const PredictOptions& options,
              int lanes, DetailRecorder* recorder, Executor& inside) {
    SimulationOptions asked{run_options(parts, options), lanes, options.sink, nullptr, {}};
    for (std::size_t i = 0; i < parts.then.size(); ++i)
        asked.then.push_back({&parts.then[i]->kernel, order.then[i], parts.then[i]->resident});
    if (recorder != nullptr) {
        asked.sink = recorder;
        asked.counted = [recorder](Picoseconds t, const Events& events) { recorder->counted(t, events); };
    }
    Simulation simulation(parts.machine, parts.kernel, order.tile_of_launch, parts.resident, asked);
    Run run{simulation.run(inside), {}};
    if (recorder != nullptr) run.details = recorder->finish(run.result);
    return run;
}

Run run_tiles(const PreparedKernel::Parts& parts, const NamedOrder& order, const PredictOptions& options,
              DetailRecorder* recorder) {
    RunOptions asked = run_options(parts, options);
    if (recorder != nullptr)
        asked.counted = [recorder](Picoseconds t, const Events& events) { recorder->counted(t, events); };
    Run run{
        simulate_tiles(parts.machine, parts.work, *parts.boxes, order.tile_of_launch, parts.resident, asked),
        {}};
    if (recorder != nullptr) run.details = recorder->finish(run.result);
    return run;
}

Run run_once(const PreparedKernel::Parts& parts, const NamedOrder& order, const PredictOptions& options,
             int lanes, Executor& inside) {
    std::optional<DetailRecorder> recorder;
    if (options.details != nullptr)
        recorder.emplace(parts.machine, *options.details, options.seed, !options.warm_l2);
    DetailRecorder* looks_on = recorder ? &*recorder : nullptr;
    return parts.engine == Engine::Tile ? run_tiles(parts, order, options, looks_on)
                                        : run_lines(parts, order, options, lanes, looks_on, inside);
}

// What the event loop counted for each seed, what was kept of the first one, and what a flat LRU says.
struct Runs {
    std::vector<SimulationResult> results;
    std::optional<RunDetails> details;
    double flat_lru_hit_rate_pct = 0;
};

// `value` of every launch, weighted by the lines it asks for.
template <class Value>
double mean_over_launches(const PreparedKernel::Parts& parts, const NamedOrder& order, Value&& value) {
    if (parts.then.empty()) return value(parts, order.tile_of_launch);
    double weight = requested_lines(parts.work);
    double sum = weight * value(parts, order.tile_of_launch);
    for (std::size_t i = 0; i < parts.then.size(); ++i) {
        const double lines = requested_lines(parts.then[i]->work);
        sum += lines * value(*parts.then[i], order.then[i]);
        weight += lines;
    }
    return weight > 0 ? sum / weight : 0;
}

double requested_lines_of_all(const PreparedKernel::Parts& parts) {
    double lines = requested_lines(parts.work);
    for (const auto& next : parts.then) lines += requested_lines(next->work);
    return lines;
}

// Several seeds run side by side, the flat LRU beside them; one seed spreads its lanes and GPCs.
Runs run_seeds(const PreparedKernel::Parts& parts, const NamedOrder& order, const PredictOptions& options,
               int lanes, Executor& executor) {
    const auto seeds = static_cast<std::size_t>(options.seeds);
    Runs runs;
    runs.results.resize(seeds);
    SerialExecutor serial;
    Executor& inside = seeds == 1 ? executor : serial;
    executor.for_each(seeds + 1, [&](std::size_t i) {
        if (i == seeds) {
            runs.flat_lru_hit_rate_pct =
                mean_over_launches(parts, order, [](const auto& p, const auto& tiles) {
                    return flat_lru_hit_rate(p.work, tiles, p.wave(), p.machine.l2_bytes());
                });
            return;
        }
        PredictOptions own = options;
        own.seed = options.seed + i;
        if (i > 0) own.progress = nullptr;
        if (i > 0) own.sink = nullptr;
        if (i > 0) own.record_schedule = false;
        if (i > 0) own.details = nullptr;
        Run run = run_once(parts, order, own, lanes, inside);
        runs.results[i] = std::move(run.result);
        if (i == 0) runs.details = std::move(run.details);
    });
    return runs;
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

// Of all launches.
double fence_sectors_of(const PreparedKernel::Parts& parts) {
    const bool persistent = parts.mode != Mode::Grid;
    double fences = fences_of(parts.kernel, parts.machine, persistent);
    for (const auto& next : parts.then) fences += fences_of(next->kernel, parts.machine, persistent);
    return fence_sectors(parts.machine, fences);
}

// Of a run of some lanes, the seeds' runs taken together.
std::map<std::string, double> standard_errors(const std::vector<SimulationResult>& results, int all_lanes,
                                              const RunTotals& totals) {
    std::vector<Events> lanes = results.front().lane_events;
    for (std::size_t seed = 1; seed < results.size(); ++seed) {
        for (std::size_t i = 0; i < lanes.size(); ++i) lanes[i] += results[seed].lane_events[i];
    }
    auto errors = sampling_errors(MetricKind::Hardware, lanes, all_lanes, totals);
    errors.merge(sampling_errors(MetricKind::Neutral, lanes, all_lanes, totals));
    return errors;
}

}  // namespace

std::string beyond_tile_engine(const Machine& machine, const Kernel& kernel) {
    if (machine.l2.private_partitions || machine.last_level.bytes > 0)
        return "GPU with private L2s or a cache in front of the memory";
    if (!kernel.then.empty()) return "sequence of launches";
    bool plain = false, hinted = false;
    for (const Program& program : kernel.programs) {
        for (const Phase& phase : program.phases) {
            for (const BoxWalk& box : phase.loads) {
                plain = plain || box.path == Path::Load;
                hinted = hinted || box.hint != CacheHint::None;
            }
            for (const BoxWalk& box : phase.stores)
                hinted = hinted || box.hint != CacheHint::None || box.reduce;
        }
    }
    if (plain && machine.sm.l1_bytes > 0) return "L1, which this kernel's plain loads go through";
    return hinted ? "cache hints or reductions" : "";
}

namespace {

// The tile's program, or -1 where it has nothing to do: its CTA leaves at once.
std::int32_t program_of(const Kernel& kernel, std::int64_t tile) {
    return kernel.programs[static_cast<std::size_t>(tile)].phases.empty() ? -1
                                                                          : static_cast<std::int32_t>(tile);
}

}  // namespace

int resident_ctas(const Machine& machine, const Kernel& kernel, Mode mode) {
    const int resident = ctas_per_sm(kernel.resources, machine);
    if (resident == 0) throw BadInput(kernel.name + ": " + why_no_cta_fits(kernel.resources, machine));
    return mode == Mode::Grid ? resident : 1;  // persistent kernels launch one CTA per SM
}

GridShape grid_of(const Kernel& kernel) {
    return {static_cast<std::int32_t>(kernel.tile_rows()), static_cast<std::int32_t>(kernel.tile_columns())};
}

NamedOrder over_grid(const Kernel& kernel, const std::string& name, const TileSequence& sequence,
                     const Machine& machine, Mode mode) {
    const GridShape grid = grid_of(kernel);
    NamedOrder order{name, {}, check_order(sequence, grid), {}, {}};
    if (!order.check.bijection()) {
        throw BadInput("order '" + name + "' is not a bijection on " + std::to_string(grid.rows) + "x" +
                       std::to_string(grid.columns) + " tiles: " + order.check.describe());
    }
    const auto wave = static_cast<std::int64_t>(machine.sms.size()) * resident_ctas(machine, kernel, mode);
    const std::int64_t outer_tiles = kernel.outer_tiles();
    const bool outer_fastest = outer_tiles > 1 && split_outer(name).outer_fastest;
    order.footprint = wave_footprint(sequence, outer_fastest ? ceil_div(wave, outer_tiles) : wave);
    const ClusterShape cluster{kernel.cluster[0], kernel.cluster[1]};
    if (!launches_clusters(sequence, cluster) || (outer_fastest && kernel.ctas_of_cluster() > 1)) {
        throw BadInput("order '" + name + "' does not launch clusters of " + std::to_string(cluster.rows) +
                       "x" + std::to_string(cluster.columns) + " tiles together");
    }
    for (const auto& [tile, outer] : expand_outer(sequence, outer_tiles, outer_fastest))
        order.tile_of_launch.push_back(
            tile == kNoTile
                ? -1
                : program_of(kernel, (outer * grid.rows + tile.row) * grid.columns + tile.column));
    return order;
}

Prediction predict(const PreparedKernel& prepared, const NamedOrder& order, const PredictOptions& options,
                   Executor& executor) {
    const PreparedKernel::Parts& parts = prepared.parts();
    if (options.sink != nullptr && parts.engine == Engine::Tile)
        throw BadInput("the tile engine keeps no trace: take --engine line");
    if (options.sink != nullptr && options.details != nullptr)
        throw std::logic_error("one looks on at a run: a sink, or who collects details");
    const bool one_launch = options.sink != nullptr || options.record_schedule ||
                            options.schedule != nullptr || options.details != nullptr;
    if (!parts.then.empty() && one_launch)
        throw BadInput(parts.kernel.name +
                       " is a sequence of launches; a trace, a schedule or details are of one");

    // Schedule and memory: the event loop.
    const int lanes =
        lanes_to_simulate(parts.machine, requested_lines_of_all(parts), parts.resident, options.sample);
    Runs runs = run_seeds(parts, order, options, lanes, executor);

    // Counters: what the loop counted, named as the hardware names it, beside what simpler models say.
    Events events;
    for (const SimulationResult& result : runs.results) events += result.events;
    RunTotals totals = mean_of(runs.results);
    totals.time_ns += parts.machine.launch.overhead_ns * static_cast<double>(1 + parts.then.size());
    totals.slices = parts.machine.slices();
    totals.l2_ghz = parts.machine.clock.l2_ghz;
    totals.fence_sectors = fence_sectors_of(parts);
    totals.ctas_per_sm = parts.resident;
    totals.waves = static_cast<double>(order.tile_of_launch.size()) / static_cast<double>(parts.wave());
    totals.closed_form_hit_rate_pct = mean_over_launches(parts, order, [](const auto& p, const auto& tiles) {
        return closed_form_hit_rate(p.work, tiles, p.wave());
    });
    totals.flat_lru_hit_rate_pct = runs.flat_lru_hit_rate_pct;
    totals.channel_max_over_mean = max_over_mean(parts.slice_requests);

    Prediction prediction;
    prediction.order = order.name;
    prediction.mode = parts.mode;
    prediction.engine = parts.engine;
    prediction.sample = parts.engine == Engine::Tile
                            ? 1
                            : static_cast<int>(std::lround(static_cast<double>(parts.map.lanes()) / lanes));
    prediction.seeds = options.seeds;
    prediction.time_ns = totals.time_ns;
    prediction.ctas_per_sm = parts.resident;
    prediction.waves = totals.waves;
    prediction.counters = evaluate_metrics(MetricKind::Hardware, events, totals);
    prediction.metrics = evaluate_metrics(MetricKind::Neutral, events, totals);
    if (parts.engine == Engine::Line)
        prediction.standard_errors = standard_errors(runs.results, parts.map.lanes(), totals);
    prediction.footprint = order.footprint;
    prediction.schedule = std::move(runs.results.front().schedule);
    if (runs.details) {
        prediction.tile_of_launch = order.tile_of_launch;
        prediction.details = std::move(runs.details);
        prediction.details->slice_requests = parts.slice_requests;
    }
    return prediction;
}

Prediction predict(const Machine& machine, const Kernel& kernel, const NamedOrder& order,
                   const PredictOptions& options, Executor& executor) {
    const PreparedKernel prepared(machine, kernel, options.mode, options.engine, executor);
    return predict(prepared, order, options, executor);
}

}  // namespace l2lens
