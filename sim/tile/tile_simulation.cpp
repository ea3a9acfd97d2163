// SPDX-License-Identifier: Apache-2.0
#include "tile/tile_simulation.hpp"

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <type_traits>

#include "base/error.hpp"
#include "schedule/power.hpp"
#include "schedule/sm_activity.hpp"

#include "tile/event.hpp"
#include "tile/lone_ctas.hpp"
#include "tile/step_units.hpp"
#include "tile/tile_l2.hpp"
#include "tile/tile_sms.hpp"

namespace l2lens {
namespace {

// How often clock, progress and stop requests are looked at: some 5 us.
constexpr Picoseconds kTick = Picoseconds{2'500} << kTileBucketShift;

// Ctas: LoneCtas where they are alone, else TileSms.
template <class Ctas>
class TileSimulation {
public:
    TileSimulation(const Machine& machine, const Work& work, const BoxTable& boxes,
                   std::span<const std::int32_t> launches, int ctas_per_sm, const RunOptions& options)
        : machine_(machine),
          work_(work),
          boxes_(boxes),
          launches_(launches),
          ctas_per_sm_(ctas_per_sm),
          tensor_math_(work.kernel().has_tensor_math()),
          options_(options),
          paces_(machine, work.kernel(), boxes),
          l2_(machine, boxes, paces_, boxes_on_their_way(work), ctas_per_sm, options.seed, wheel_) {}

    SimulationResult run() {
        if (options_.warm_l2) {
            launch();
            l2_.reset_events();
            warm_ = true;
        }
        counted_ = options_.counted;
        launch();
        SimulationResult result;
        result.events = all_events();
        // What was written has to leave the L2 at the rate at which DRAM takes it.
        result.time = std::max(last_exit_, l2_.drained()) - launched_at_;
        result.sm_cycles = activity_->mean() * cycles_ / static_cast<double>(now_ - launched_at_);
        if (options_.record_schedule) result.schedule = by_launch_id(launches_, stays_);
        return result;
    }

private:
    // What follows from the rest is not counted box by box: reads that did not merge were looked up, and
    // those that did not miss hit.
    Events all_events() const {
        Events events = l2_.events();
        events += ctas_->events();
        events[Event::TexRequests] += events[Event::CoalescableRequests];
        events[Event::TexReadSectors] = events[Event::CoalescableSectors] - events[Event::MergedSectors];
        events[Event::TexReadHits] = events[Event::TexReadSectors] - events[Event::TexReadMisses];
        return events;
    }

    // One launch from its first CTA to the last write's arrival.
    void launch() {
        ctas_.emplace(machine_, work_, boxes_, paces_, options_.mode, ctas_per_sm_, options_.seed, wheel_,
                      l2_);
        dispatcher_.emplace(machine_, launches_, options_.mode, ctas_per_sm_,
                            work_.kernel().ctas_of_cluster(), options_.seed, options_.schedule);
        if (options_.record_schedule) stays_.assign(work_.kernel().programs.size(), CtaStay{});
        activity_.emplace(machine_.sms.size());
        cycles_ = 0;
        last_exit_ = now_;
        launched_at_ = now_;
        traffic_at_launch_ = traffic_of(all_events(), 1);
        follow_power();
        for (const Start& start : dispatcher_->first_wave(now_)) begin(start);
        hand_out_draws();
        while (!wheel_.empty()) {
            now_ += kTick;
            wheel_.run_until(now_, [this](Picoseconds now, const TileEvent& event) { handle(now, event); });
            cycles_ += static_cast<double>(kTick) / cycle_ps_;
            if (counted_) counted_(now_ - launched_at_, all_events());
            follow_power();
            if (options_.progress) {
                const double done =
                    static_cast<double>(dispatcher_->launched()) / static_cast<double>(launches_.size());
                options_.progress(!options_.warm_l2 ? done : (done + (warm_ ? 1 : 0)) / 2);
            }
            if (options_.stop_requested && options_.stop_requested()) throw Interrupted();
        }
        if (!dispatcher_->all_launched() || running_ctas_ > 0)
            throw std::logic_error("the launch stopped before its last CTA");
    }

    void handle(Picoseconds now, const TileEvent& event) {
        using Kind = TileEvent::Kind;
        l2_.advance(now);
        switch (event.kind) {
            case Kind::Write:
                return l2_.write(now, event.a, event.b);
            case Kind::HomeWrite:
                return l2_.home_write(now, event.a, event.b);
            case Kind::Exit:
                return leave(now, static_cast<std::int32_t>(event.a));
            default:
                ctas_->handle(now, event);
        }
        hand_out_draws();
    }

    // What CTAs draw that load ahead; those that are alone never do.
    void hand_out_draws() {
        if constexpr (std::is_same_v<Ctas, TileSms>) {
            if (ctas_->draws().empty()) return;
            for (const Next& next : dispatcher_->draw(ctas_->draws())) ctas_->announce(next);
            ctas_->draws().clear();
        }
    }

    void begin(const Start& start) {
        ++running_ctas_;
        ctas_->start(start);
        activity_->began(sm_of(start.slot), start.time);
        if (options_.record_schedule)
            stays_[static_cast<std::size_t>(start.tile)] = {start.slot / ctas_per_sm_,
                                                            start.time - launched_at_, 0};
    }

    void leave(Picoseconds now, std::int32_t slot) {
        const Exit exit = ctas_->leave(now, slot);
        --running_ctas_;
        last_exit_ = std::max(last_exit_, exit.finished);
        activity_->ended(sm_of(exit.slot), exit.finished);
        if (options_.record_schedule)
            stays_[static_cast<std::size_t>(exit.tile)].end = exit.finished - launched_at_;
        for (const Start& start : dispatcher_->follow({&exit, 1}, now)) begin(start);
        hand_out_draws();
    }

    std::size_t sm_of(std::int32_t slot) const { return static_cast<std::size_t>(slot / ctas_per_sm_); }

    void follow_power() {
        const Traffic bytes = traffic_of(all_events(), 1) - traffic_at_launch_;
        cycle_ps_ =
            cycle_under_power(machine_, tensor_math_, {ctas_->demand().flops, bytes, now_ - launched_at_});
        ctas_->set_cycle(cycle_ps_);
        paces_.set_cycle(cycle_ps_);
    }

    const Machine& machine_;
    const Work& work_;
    const BoxTable& boxes_;
    std::span<const std::int32_t> launches_;
    const int ctas_per_sm_;
    const bool tensor_math_;
    Traffic traffic_at_launch_;
    const RunOptions& options_;
    TileWheel wheel_;
    BoxPaces paces_;
    TileL2 l2_;
    std::optional<Ctas> ctas_;
    bool warm_ = false;  // the launch that warms the L2 is over
    std::optional<Dispatcher> dispatcher_;
    std::function<void(Picoseconds, const Events&)> counted_;  // of the launch that counts
    LaunchSchedule stays_;                                     // by tile
    Picoseconds now_ = 0;
    Picoseconds launched_at_ = 0;  // the launch that runs
    Picoseconds last_exit_ = 0;
    std::int64_t running_ctas_ = 0;
    double cycle_ps_ = 0;
    double cycles_ = 0;
    std::optional<SmActivity> activity_;
};

}  // namespace

SimulationResult simulate_tiles(const Machine& machine, const Work& work, const BoxTable& boxes,
                                std::span<const std::int32_t> launches, int ctas_per_sm,
                                const RunOptions& options) {
    if (ctas_are_alone(work.kernel(), ctas_per_sm))
        return TileSimulation<LoneCtas>(machine, work, boxes, launches, ctas_per_sm, options).run();
    return TileSimulation<TileSms>(machine, work, boxes, launches, ctas_per_sm, options).run();
}

}  // namespace l2lens
