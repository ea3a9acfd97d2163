// SPDX-License-Identifier: Apache-2.0
#include "schedule/simulation.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/error.hpp"

namespace l2lens {
namespace {

constexpr std::int64_t kWindowsPerCheck = 64;  // some 5 us: clock, progress, stop requests

}  // namespace

Simulation::Simulation(const Machine& machine, const Kernel& kernel, std::span<const std::int32_t> launches,
                       int ctas_per_sm, const SimulationOptions& options)
    : machine_(machine),
      first_{&kernel, launches, ctas_per_sm},
      running_(first_),
      options_(options),
      sample_(machine.l2.slices_per_partition, options.lanes),
      model_(machine, sample_.factor(), options.seed),
      window_(exchange_window(machine)) {
    for (int i = 0; i < sample_.count(); ++i) {
        lanes_.push_back(std::make_unique<Lane>(model_, options.seed, sample_.lane(i)));
        lanes_.back()->observe(options.observer);
    }
    const auto gpcs = static_cast<std::size_t>(machine.gpcs);
    answers_.assign(lanes_.size(), std::vector<std::vector<Answer>>(gpcs));
    requests_.assign(gpcs, std::vector<std::vector<Request>>(lanes_.size()));
    starts_.resize(gpcs);
    announced_.resize(gpcs);
}

SimulationResult Simulation::run(Executor& executor) {
    // More threads than lanes would mostly wait: three lanes of the 8192 cube take 2.6 s on one thread, 1.3
    // on four, 1.4 on eight and 1.6 on sixteen (a Xeon of sixteen cores).
    const std::unique_ptr<Executor> team = executor.team(static_cast<int>(lanes_.size()) + 1);
    if (options_.warm_l2) {
        launch_all(*team, nullptr);
        for (auto& lane : lanes_) lane->reset_events();
    }
    counted_ = options_.counted;
    launch_all(*team, options_.sink);

    SimulationResult result;
    for (const auto& lane : lanes_) {
        result.events += lane->events();
        result.lane_fill_sectors.push_back(static_cast<double>(lane->events()[Event::FillSectors]));
        result.lane_events.push_back(lane->events());
        for (int p = 0; p < machine_.partitions; ++p) {
            result.slice_sectors.push_back(static_cast<double>(lane->slice_sectors(p)));
        }
    }
    // L1s are the SMs', not the lanes': as if each lane had an equal share.
    for (Events& lane : result.lane_events) {
        lane[Event::L1Sectors] += demand_.l1_sectors / lanes_.size();
        lane[Event::L1Hits] += demand_.l1_hits / lanes_.size();
    }
    result.events[Event::L1Sectors] += demand_.l1_sectors;
    result.events[Event::L1Hits] += demand_.l1_hits;
    const std::uint64_t simulated =
        result.events[Event::CoalescableSectors] + result.events[Event::TexWriteSectors];
    const std::uint64_t asked = demand_.load_sectors + demand_.store_sectors;
    // The ratio evens out what the sample has too much of. What an L1 keeps answering is asked over and over,
    // a few lines of which the sample may have any number, so then it has to be the lanes' share.
    const bool by_ratio = simulated > 0 && demand_.l1_hits == 0;
    result.scale = by_ratio ? static_cast<double>(asked) / static_cast<double>(simulated) : sample_.factor();
    result.time = time_;
    result.sm_cycles = active_cycles_;
    if (options_.record_schedule) result.schedule = by_launch_id(first_.launches, stays_);
    return result;
}

// The kernel and those that follow it. A stream has one of them running at a time; what the host takes
// between two launches is not counted.
void Simulation::launch_all(Executor& executor, RequestSink* sink) {
    demand_ = Demand{};
    time_ = 0;
    active_cycles_ = 0;
    launch_kernel(first_, executor, sink);
    for (const KernelLaunch& next : options_.then) launch_kernel(next, executor, nullptr);
}

// CTAs of all launches, those that warm the L2 included.
std::int64_t Simulation::all_launches() const {
    std::int64_t ctas = std::ssize(first_.launches);
    for (const KernelLaunch& next : options_.then) ctas += std::ssize(next.launches);
    return options_.warm_l2 ? 2 * ctas : ctas;
}

// One launch from its first CTA to the last write's arrival.
void Simulation::launch_kernel(const KernelLaunch& launch, Executor& executor, RequestSink* sink) {
    running_ = launch;
    tensor_math_ = launch.kernel->has_tensor_math();
    sink_ = sink;
    work_ = std::make_unique<Work>(*launch.kernel, model_.map, sample_);
    gpcs_.clear();
    for (int i = 0; i < machine_.gpcs; ++i) {
        gpcs_.push_back(std::make_unique<Gpc>(machine_, *work_, options_.mode, i, launch.ctas_per_sm,
                                              sample_.count(), options_.seed));
        if (sink_ != nullptr) gpcs_.back()->observe();
    }
    if (sink_ != nullptr) {
        sink_->begin(*work_, sample_);
        sink_->launched(lanes_);
    }
    dispatcher_ =
        std::make_unique<Dispatcher>(machine_, launch.launches, options_.mode, launch.ctas_per_sm,
                                     launch.kernel->ctas_of_cluster(), options_.seed, options_.schedule);
    last_exit_ = now_;
    cycles_ = 0;
    activity_.emplace(machine_.sms.size());
    if (options_.record_schedule) stays_.assign(launch.kernel->programs.size(), CtaStay{});
    launched_at_ = now_;
    if (options_.schedule != nullptr && options_.recorded_paces) {
        paces_ = std::make_unique<RecordedPaces>(*work_, launch.launches, *options_.schedule, launched_at_);
        for (auto& gpc : gpcs_) gpc->keep(*paces_);
    }
    start(dispatcher_->first_wave(now_));
    traffic_at_launch_ = traffic_of(events(), sample_.factor());
    follow_power(launched_at_);
    while (run_window(executor)) {
        if (++windows_ % kWindowsPerCheck != 0) continue;
        follow_power(launched_at_);
        if (options_.progress) {
            options_.progress(static_cast<double>(launched_before_ + dispatcher_->launched()) /
                              static_cast<double>(all_launches()));
        }
        if (options_.stop_requested && options_.stop_requested()) throw Interrupted();
    }
    if (!dispatcher_->all_launched() || running_ctas_ > 0)
        throw std::logic_error("the launch stopped before its last CTA");
    for (const auto& gpc : gpcs_) demand_ += gpc->demand();
    launched_before_ += std::ssize(launch.launches);
    // What was written has to leave the L2 at the rate at which DRAM takes it.
    Picoseconds end = last_exit_;
    for (const auto& lane : lanes_) end = std::max(end, lane->drained());
    time_ += end - launched_at_;
    active_cycles_ += activity_->mean() * cycles_ / static_cast<double>(now_ - launched_at_);
}

Events Simulation::events() const {
    Events events;
    for (const auto& lane : lanes_) events += lane->events();
    return events;
}

// Runs both sides to the end of the next window; false when nothing is left to do.
bool Simulation::run_window(Executor& executor) {
    now_ += window_;
    const std::size_t units = gpcs_.size() + lanes_.size();
    executor.for_each(units, [&](std::size_t i) {
        // GPCs among the lanes, so that each thread's part of the units is about as much work.
        const std::size_t gpcs_before = i * gpcs_.size() / units;
        if ((i + 1) * gpcs_.size() / units > gpcs_before) {
            run_gpc(gpcs_before);
        } else {
            run_lane(i - gpcs_before);
        }
    });
    exchange();
    cycles_ += static_cast<double>(window_) / cycle_ps_;
    if (sink_ != nullptr) show_issued();
    if (counted_) counted_(now_ - launched_at_, events());
    refill();
    return !all_idle();
}

// Each unit takes what the others have sent it in the window before, always in the same order, and goes on:
// what it has just taken is then still in the processor's caches.
void Simulation::run_gpc(std::size_t number) {
    Gpc& gpc = *gpcs_[number];
    for (auto& of_lane : answers_) {
        for (const Answer& answer : of_lane[number]) gpc.receive(answer);
        of_lane[number].clear();
    }
    for (const Next& next : announced_[number]) gpc.announce(next.time, next.slot, next.tile);
    announced_[number].clear();
    for (const Start& s : starts_[number]) gpc.start(s.time, s.slot, s.tile, s.next, s.cluster);
    starts_[number].clear();
    gpc.run_until(now_);
}

void Simulation::run_lane(std::size_t number) {
    Lane& lane = *lanes_[number];
    for (auto& of_gpc : requests_) {
        lane.submit(of_gpc[number]);
        of_gpc[number].clear();
    }
    lane.run_until(now_);
}

void Simulation::exchange() {
    for (std::size_t i = 0; i < lanes_.size(); ++i) lanes_[i]->swap_answers(answers_[i]);
    for (std::size_t i = 0; i < gpcs_.size(); ++i) gpcs_[i]->swap_requests(requests_[i]);
}

// Has no unit anything to do, and nothing on its way to it?
bool Simulation::all_idle() const {
    const auto idle = [](const auto& unit) { return unit->idle(); };
    const auto empty = [](const auto& messages) { return messages.empty(); };
    const auto all_empty = [&](const auto& of_unit) {
        return std::all_of(of_unit.begin(), of_unit.end(), empty);
    };
    return std::all_of(gpcs_.begin(), gpcs_.end(), idle) && std::all_of(lanes_.begin(), lanes_.end(), idle) &&
           all_empty(starts_) && all_empty(announced_) &&
           std::all_of(answers_.begin(), answers_.end(), all_empty) &&
           std::all_of(requests_.begin(), requests_.end(), all_empty);
}

void Simulation::show_issued() {
    for (auto& gpc : gpcs_) {
        if (!gpc->issued().empty()) sink_->issued(now_, gpc->cycle(), gpc->issued());
        gpc->issued().clear();
    }
}

// Hands out what CTAs draw that load ahead, and hands the slots that became free on.
void Simulation::refill() {
    std::vector<Draw> draws;
    for (auto& gpc : gpcs_) {
        draws.insert(draws.end(), gpc->draws().begin(), gpc->draws().end());
        gpc->draws().clear();
    }
    for (const Next& next : dispatcher_->draw(draws)) {
        work_->acquire(next.tile);
        announced_[gpc_of(next.slot)].push_back({std::max(next.time, now_), next.slot, next.tile});
    }
    std::vector<Exit> exits;
    for (auto& gpc : gpcs_) {
        exits.insert(exits.end(), gpc->exits().begin(), gpc->exits().end());
        gpc->exits().clear();
    }
    if (exits.empty()) return;
    for (const Exit& exit : exits) {
        --running_ctas_;
        last_exit_ = std::max(last_exit_, exit.finished);
        activity_->ended(sm_of(exit.slot), exit.finished);
        if (options_.record_schedule)
            stays_[static_cast<std::size_t>(exit.tile)].end = exit.finished - launched_at_;
        work_->release(exit.tile);
    }
    start(dispatcher_->follow(exits, now_));
}

void Simulation::start(std::span<const Start> starts) {
    for (const Start& s : starts) {
        ++running_ctas_;
        work_->acquire(s.tile);
        if (s.next >= 0) work_->acquire(s.next);
        activity_->began(sm_of(s.slot), s.time);
        starts_[gpc_of(s.slot)].push_back(s);
        if (options_.record_schedule)
            stays_[static_cast<std::size_t>(s.tile)] = {s.slot / running_.ctas_per_sm, s.time - launched_at_,
                                                        0};
    }
}

// The SM clock the chip settles at under the power the kernel has drawn so far.
void Simulation::follow_power(Picoseconds launched_at) {
    double flops = 0;
    for (const auto& gpc : gpcs_) flops += gpc->demand().flops;
    const Traffic bytes = traffic_of(events(), sample_.factor()) - traffic_at_launch_;
    cycle_ps_ = cycle_under_power(machine_, tensor_math_, {flops, bytes, now_ - launched_at});
    for (auto& gpc : gpcs_) gpc->set_cycle(cycle_ps_, now_);
}

}  // namespace l2lens
