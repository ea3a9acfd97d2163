// SPDX-License-Identifier: Apache-2.0
// The whole pipeline: kernel -> order -> schedule -> memory -> counters. A Prediction is what every report is
// made of.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/executor.hpp"
#include "kernel/kernel.hpp"
#include "machine/machine.hpp"
#include "order/order.hpp"
#include "schedule/dispatcher.hpp"
#include "schedule/launch_schedule.hpp"
#include "schedule/request_sink.hpp"

#include "observe/run_details.hpp"

namespace l2lens {

// An order with its name, over the kernel's whole grid: launch id -> program index (-1: a no-op CTA).
struct NamedOrder {
    std::string name;
    std::vector<std::int32_t> tile_of_launch;
    OrderCheck check;  // always a bijection: others are refused
    WaveFootprint footprint;
    // The same order over the grids of the launches that follow, in turn.
    std::vector<std::vector<std::int32_t>> then;
};

// What is simulated as one unit: a 128 B line, or a whole box (tile/: an order in milliseconds).
enum class Engine { Line, Tile };

struct PredictOptions {
    Mode mode = Mode::Grid;
    Engine engine = Engine::Line;
    int sample = 0;  // line engine: simulate 1/sample of the slices; 1: every line; 0: auto
    int seeds = 1;   // independent runs, averaged
    std::uint64_t seed = 0;
    bool warm_l2 = false;                  // --l2 warm: the kernel ran just before
    std::function<void(double)> progress;  // called with [0, 1], from one thread
    std::function<bool()> stop_requested;  // polled; true ends the run with Interrupted
    // Line engine: sees every box of the first seed's run leave its SM.
    RequestSink* sink = nullptr;
    // Keep what a report draws of the first seed's run, its schedule included. nullptr: nothing. Lives until
    // the prediction is made; not together with a sink.
    const KernelLines* details = nullptr;
    bool record_schedule = false;  // keep who ran where and when, of the first seed's run
    // Who ran where and from when, by launch id; then only what happens inside a CTA is simulated. nullptr:
    // the schedule is simulated, too.
    const LaunchSchedule* schedule = nullptr;
    bool recorded_paces = false;  // no tile of `schedule` gets ahead of its pace there (line engine)
};

struct Prediction {
    std::string order;
    Mode mode = Mode::Grid;
    Engine engine = Engine::Line;
    int sample = 1;  // what was simulated: 1/sample of the slices, all of them by the tile engine
    int seeds = 1;
    double time_ns = 0;
    int ctas_per_sm = 0;
    double waves = 0;
    // Hardware-named counters ("lts__t_sectors.sum", "lts__t_sector_hit_rate.pct", ...) and neutral metrics
    // ("l2_hit_rate_pct", "dram_read_bytes", ...): the keys of metrics.hpp.
    std::map<std::string, double> counters;
    std::map<std::string, double> metrics;
    // How far counters and metrics may be from those of a run of all slices; empty when that is what was run.
    std::map<std::string, double> standard_errors;
    WaveFootprint footprint;
    LaunchSchedule schedule;                   // when it was asked for, or details were
    std::vector<std::int32_t> tile_of_launch;  // as in NamedOrder, with details
    std::optional<RunDetails> details;
};

// The plane that a 2-D order walks: the kernel's last two axes.
GridShape grid_of(const Kernel& kernel);

// Spreads a 2-D order over the kernel's whole grid: the axes before the last two are outer loops, slowest
// first. Throws BadInput, naming the lost, doubled and stray tiles, when the order is not a bijection.
NamedOrder over_grid(const Kernel& kernel, const std::string& name, const TileSequence& sequence,
                     const Machine& machine, Mode mode = Mode::Grid);

// CTAs of the kernel that run on an SM at once: as many as fit, of a persistent launch one. Throws BadInput
// when none fits.
int resident_ctas(const Machine& machine, const Kernel& kernel, Mode mode);

// What all orders of a kernel on a machine share: made once, then read by every prediction, on any thread.
// Machine and kernel must outlive it.
class PreparedKernel {
public:
    // Throws BadInput when no CTA fits an SM, or when the engine does not know such a machine.
    PreparedKernel(const Machine& machine, const Kernel& kernel, Mode mode, Engine engine,
                   Executor& executor);
    ~PreparedKernel();
    PreparedKernel(const PreparedKernel&) = delete;
    PreparedKernel& operator=(const PreparedKernel&) = delete;

    struct Parts;
    const Parts& parts() const { return *parts_; }

private:
    std::unique_ptr<const Parts> parts_;
};

// "" when the tile engine knows all that the kernel and the machine ask of it, else what it does not know.
std::string beyond_tile_engine(const Machine& machine, const Kernel& kernel);

// Runs one order, in the mode and with the engine that the kernel was prepared for. Deterministic: the same
// result for any number of threads of `executor`. Of several launches counters and times are the sums. Throws
// BadInput for a sink in the tile engine, and for a sink or a schedule beside several launches.
Prediction predict(const PreparedKernel& prepared, const NamedOrder& order, const PredictOptions& options,
                   Executor& executor);

// The same for a kernel of which one order is asked for.
Prediction predict(const Machine& machine, const Kernel& kernel, const NamedOrder& order,
                   const PredictOptions& options, Executor& executor);

}  // namespace l2lens
