// SPDX-License-Identifier: Apache-2.0
// All SMs and the CTAs on them when a box is the unit: the loop of schedule/gpc.hpp, with the same rules of
// issue, release and retirement.
//
// A CTA that has its SM to itself needs no event for its math: when a step's last box has landed, the time at
// which its math begins and ends, and with it the time at which the next loads leave, follows from what is
// known. CTAs that share tensor cores compete for them, event by event.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "machine/machine.hpp"
#include "schedule/dispatcher.hpp"
#include "schedule/gpc.hpp"
#include "schedule/work.hpp"

#include "tile/box_pace.hpp"
#include "tile/box_table.hpp"
#include "tile/event.hpp"
#include "tile/server.hpp"
#include "tile/tile_l2.hpp"

namespace l2lens {

class TileSms {
public:
    TileSms(const Machine& machine, const Work& work, const BoxTable& boxes, const BoxPaces& paces,
            int ctas_per_sm, std::uint64_t seed, TileWheel& wheel, TileL2& l2);

    // Places a CTA; it begins to load after its prologue.
    void start(const Start& start);
    void begin(Picoseconds now, std::int32_t slot);
    void on_answer(Picoseconds now, const TileL2::Entry& entry);
    void on_issue(Picoseconds now, std::int32_t slot);
    void on_math_done(Picoseconds now, std::int32_t slot);

    // A CTA leaves its slot at `now`.
    Exit leave(Picoseconds now, std::int32_t slot);

    // SM cycles from now on last this long.
    void set_cycle(double picoseconds);

    const Demand& demand() const { return demand_; }
    // What the SMs asked for, as events; the L2 counts the rest.
    const Events& events() const { return events_; }

private:
    struct Stage {
        Picoseconds ready = 0;
        std::int32_t missing = 0;  // boxes that have not landed
    };

    // A position in a program: step `step` is step `in_phase` of phase `phase`.
    struct Cursor {
        std::int32_t step = 0;
        std::int32_t in_phase = 0;
        std::uint32_t phase = 0;
    };

    struct Slot {
        std::span<const Work::Phase> phases;
        Cursor load;  // next step to load
        Cursor math;  // next step to issue
        Cursor done;  // next step to retire
        std::int32_t steps = 0;
        std::int32_t sm = 0;
        Picoseconds permit = 0;  // the next step may be issued from here on
        Picoseconds issued = 0;  // of the last issued step
        Picoseconds last_done = 0;
        std::int32_t loads_due = 0;   // steps whose stage is free here but not yet in the whole cluster
        std::int32_t to_release = 0;  // next step whose successor may go on
        ClusterPlace cluster;
        bool permitted = false;
        std::int32_t tile = -1;
        Picoseconds epilogue_until = 0;  // of the tile before, if it overlaps
        std::uint64_t age = 0;           // start order: the oldest CTA's math goes first
    };

    struct SmState {
        Server port;
        Picoseconds engine_free = 0;  // load engine
        Picoseconds latency = 0;      // to the slices
        bool math_busy = false;
        std::uint8_t cpc = 0;
        std::uint32_t gpc = 0;
        std::int32_t next_in_gpc = -1;  // SM with the next higher id
        std::int32_t previous_in_gpc = -1;
    };

    void run(std::int32_t index);
    void issue_alone(Picoseconds at, std::int32_t index);
    void release_if_due(std::int32_t index);
    void permit(Picoseconds at, std::int32_t index);
    void start_math(Picoseconds now, std::int32_t sm);
    void retire(Picoseconds at, std::int32_t index);
    void want_loads(Picoseconds at, std::int32_t index);
    void issue_loads(Picoseconds at, std::int32_t index);
    void issue_stores(Picoseconds at, std::int32_t index, const Work::Phase& phase, std::int32_t k);
    void count_demand(const Slot& slot);

    double math_cycles(const Work::Phase& phase) {
        const double jitter =
            kernel_.math_jitter_cycles > 0 ? kernel_.math_jitter_cycles * random_.uniform() : 0;
        return phase.math_flops * cycles_per_flop_ + phase.math_cycles + jitter;
    }
    static const Work::Phase& phase_of(const Slot& slot, const Cursor& cursor) {
        return slot.phases[cursor.phase];
    }
    static bool has_math(const Work::Phase& phase) { return phase.math_flops > 0 || phase.math_cycles > 0; }
    static void advance(const Slot& slot, Cursor& cursor) {
        ++cursor.step;
        ++cursor.in_phase;
        while (cursor.phase < slot.phases.size() && cursor.in_phase >= slot.phases[cursor.phase].count) {
            cursor.in_phase = 0;
            ++cursor.phase;
        }
    }
    static bool wants_more_loads(const Slot& s) { return s.load.step + s.loads_due < s.steps; }
    std::size_t stage_of(std::int32_t step) const {
        return static_cast<std::size_t>(stages_are_power_of_two_ ? step & (stages_ - 1) : step % stages_);
    }
    Stage& stage(std::int32_t index, std::size_t number) {
        return ring_[static_cast<std::size_t>(index) * static_cast<std::size_t>(stages_) + number];
    }
    Picoseconds& stage_free(std::int32_t index, std::size_t number) {
        return stage_free_[static_cast<std::size_t>(index) * static_cast<std::size_t>(stages_) + number];
    }
    Picoseconds cycles(double n) const { return static_cast<Picoseconds>(n * cycle_); }
    Slot& slot(std::int32_t index) { return slots_[static_cast<std::size_t>(index)]; }
    SmState& sm_of(const Slot& s) { return sms_[static_cast<std::size_t>(s.sm)]; }
    template <class Body>
    void for_each_member(std::int32_t index, Body&& body);
    template <class Body>
    void for_each_receiver(std::int32_t index, std::uint32_t axis, Body&& body);

    const Machine& machine_;
    const Work& work_;
    const Kernel& kernel_;
    const BoxTable& boxes_;
    const BoxPaces& paces_;
    TileWheel& wheel_;
    TileL2& l2_;
    const int ctas_per_sm_;
    const std::int32_t stages_;
    const bool stages_are_power_of_two_;
    const Picoseconds half_epilogue_;
    double cycle_ = 1000;
    Picoseconds release_ = 0;     // from a step's math to its successor's loads
    Picoseconds load_issue_ = 0;  // from a box's issue to its first line on the wire
    double cycles_per_flop_ = 0;
    std::vector<SmState> sms_;
    std::vector<Slot> slots_;              // SM * CTAs per SM + slot
    std::vector<Stage> ring_;              // slot * stages + stage
    std::vector<Picoseconds> stage_free_;  // the same: of steps to load, from when on their stage is free
    std::uint64_t started_ = 0;
    RandomStream random_;
    Demand demand_;
    Events events_;
};

}  // namespace l2lens
