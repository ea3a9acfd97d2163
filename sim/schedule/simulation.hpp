// SPDX-License-Identifier: Apache-2.0
// The event loop: GPCs on one side, lanes of the L2 on the other. A request or an answer needs a crossbar
// latency to get anywhere, so inside a window of that length every GPC and every lane runs alone, on any
// thread; between windows the messages are handed over and free slots get their next CTA, in one fixed order.
// Hence the same result on any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/executor.hpp"
#include "counters/counters.hpp"
#include "kernel/kernel.hpp"
#include "machine/machine.hpp"
#include "memory/lane.hpp"
#include "schedule/dispatcher.hpp"
#include "schedule/gpc.hpp"
#include "schedule/launch_schedule.hpp"
#include "schedule/power.hpp"
#include "schedule/recorded_paces.hpp"
#include "schedule/request_sink.hpp"
#include "schedule/sm_activity.hpp"
#include "schedule/work.hpp"

namespace l2lens {

// What a run is asked for, whatever its unit is.
struct RunOptions {
    Mode mode = Mode::Grid;
    std::uint64_t seed = 0;
    bool warm_l2 = false;
    std::function<void(double)> progress;
    std::function<bool()> stop_requested;
    // Between windows: the time since the launch, and what its simulated lanes have counted until then.
    std::function<void(Picoseconds, const Events&)> counted;
    bool record_schedule = false;              // keep who ran where and when
    const LaunchSchedule* schedule = nullptr;  // who runs where and from when; nullptr: the dispatcher says
    bool recorded_paces = false;               // and its tiles get through their steps no sooner than there
};

// A launch of one kernel: launches[id] is the program of the CTA with that launch id, or -1.
struct KernelLaunch {
    const Kernel* kernel = nullptr;
    std::span<const std::int32_t> launches;
    int ctas_per_sm = 1;
};

struct SimulationOptions : RunOptions {
    int lanes = 1;                // of the L2 to simulate, at most slices_per_partition
    RequestSink* sink = nullptr;  // looks on; of a warm L2's launches at the last only
    // Looks on inside the lanes, from the threads that run them; of a warm L2's launches at all.
    LaneObserver* observer = nullptr;
    std::vector<KernelLaunch> then;  // launches that follow on the same L2; the result is that of all
};

struct SimulationResult {
    Events events;                          // of the simulated lanes
    std::vector<Events> lane_events;        // of each of them
    double scale = 1;                       // all lanes' sectors per simulated sector
    Picoseconds time = 0;                   // launch -> last CTA's exit
    double sm_cycles = 0;                   // SM clock cycles in which an SM, in the mean, had a CTA
    std::vector<double> slice_sectors;      // looked up in each simulated slice: lane by lane, its partitions
    std::vector<double> lane_fill_sectors;  // from DRAM, of each simulated lane
    LaunchSchedule schedule;                // when it was asked for
};

class Simulation {
public:
    // launches[id]: program of the CTA with that launch id, or -1.
    Simulation(const Machine& machine, const Kernel& kernel, std::span<const std::int32_t> launches,
               int ctas_per_sm, const SimulationOptions& options);

    SimulationResult run(Executor& executor);

private:
    void launch_all(Executor& executor, RequestSink* sink);
    void launch_kernel(const KernelLaunch& launch, Executor& executor, RequestSink* sink);
    bool run_window(Executor& executor);
    std::int64_t all_launches() const;
    Events events() const;
    void run_gpc(std::size_t gpc);
    void run_lane(std::size_t lane);
    void exchange();
    bool all_idle() const;
    void refill();
    void show_issued();
    void start(std::span<const Start> starts);
    void follow_power(Picoseconds launched_at);
    std::size_t gpc_of(std::int32_t slot) const {
        return static_cast<std::size_t>(machine_.sms[sm_of(slot)].gpc);
    }
    std::size_t sm_of(std::int32_t slot) const {
        return static_cast<std::size_t>(slot / running_.ctas_per_sm);
    }

    const Machine& machine_;
    const KernelLaunch first_;
    KernelLaunch running_;
    bool tensor_math_ = false;  // of the running one
    Traffic traffic_at_launch_;
    const SimulationOptions& options_;
    LaneSample sample_;
    MemoryModel model_;
    std::unique_ptr<Work> work_;
    std::vector<std::unique_ptr<Lane>> lanes_;
    std::vector<std::unique_ptr<Gpc>> gpcs_;
    // On their way between windows.
    std::vector<std::vector<std::vector<Answer>>> answers_;    // of a lane, to each GPC
    std::vector<std::vector<std::vector<Request>>> requests_;  // of a GPC, to each lane
    std::vector<std::vector<Start>> starts_;                   // of CTAs, on each GPC
    std::vector<std::vector<Next>> announced_;                 // what CTAs have drawn, on each GPC
    std::unique_ptr<Dispatcher> dispatcher_;
    std::unique_ptr<RecordedPaces> paces_;  // of a replay that keeps them
    RequestSink* sink_ = nullptr;           // of this launch
    std::function<void(Picoseconds, const Events&)> counted_;
    std::vector<CtaStay> stays_;  // of this launch, by tile; when they are recorded
    Picoseconds window_;
    Picoseconds now_ = 0;
    Picoseconds launched_at_ = 0;
    Picoseconds last_exit_ = 0;
    std::int64_t windows_ = 0;
    std::int64_t running_ctas_ = 0;
    std::int64_t launched_before_ = 0;  // CTAs of the launches before this one
    double cycle_ps_ = 0;
    // Of all launches so far, less the one that warms the L2.
    Demand demand_;
    Picoseconds time_ = 0;
    double active_cycles_ = 0;  // of an SM, in the mean
    // Of this launch.
    double cycles_ = 0;
    std::optional<SmActivity> activity_;
};

}  // namespace l2lens
