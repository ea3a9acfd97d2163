// SPDX-License-Identifier: Apache-2.0
// All SMs and the CTAs on them, as in tile_sms.hpp, for the launches that rankings are mostly of: one CTA an
// SM, no clusters, loads that the CTA's own math sets free. Such a CTA meets others at the ports and in the
// L2 only, so a unit of steps is one event.
//
// Boxes are put to the L2 in the order in which they will be there, not in that in which they leave: a unit's
// loads wait for the SM's own share of the way. Nothing else of a unit touches other SMs, so all of it waits
// for that, and its event is taken so much later than what it is about.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "schedule/load_engine.hpp"

#include "tile/server.hpp"
#include "tile/tile_ctas.hpp"

namespace l2lens {

class LoneCtas : public TileCtas {
public:
    LoneCtas(const Machine& machine, const Work& work, const BoxTable& boxes, const BoxPaces& paces,
             Mode mode, int ctas_per_sm, std::uint64_t seed, TileWheel& wheel, TileL2& l2);

    // Places a CTA; it begins to load after its prologue.
    void start(const Start& start);
    // An event of a CTA, but for its exit.
    void handle(Picoseconds now, const TileEvent& event) {
        Sm& sm = sms_[event.a];
        if (event.kind == TileEvent::Kind::Issue) return on_issue(now, sm);
        begin(now, sm);
    }
    // A CTA leaves its SM at `now`.
    Exit leave(Picoseconds now, std::int32_t sm);

    // SM cycles from now on last this long.
    void set_cycle(double picoseconds);

private:
    // A position in a program: a unit, and its place among the units of its phase.
    struct Cursor {
        const Work::Phase* phase = nullptr;
        std::int32_t unit = 0;
        std::int32_t step = 0;    // its first one
        std::int32_t length = 0;  // steps
        std::int32_t in_phase = 0;
        std::int32_t left = 0;     // steps of the phase from here on
        std::int32_t in_lead = 0;  // `step` modulo the lead
    };

    // A unit's boxes.
    struct Stage {
        Picoseconds left = 0;    // its last step's loads, and what has gone through the ports is there
        Picoseconds ready = 0;   // all of it is there, as is expected
        Picoseconds spread = 0;  // by so much did its first step leave before its last one
        Picoseconds beyond = 0;  // beyond_lead()
        std::int32_t boxes = 0;  // that have not gone through the ports
    };

    // What an SM does: first what each of its CTA's units looks at.
    struct alignas(64) Sm {
        Cursor load;                // next unit to load
        Cursor math;                // next unit to issue
        Picoseconds free_from = 0;  // the next unit may be issued from here on
        LoadEngine engine;
        Picoseconds own_way = 0;  // of its way to the slices, beyond that of the nearest SM
        Picoseconds way = 0;      // from a load's issue to the slices, in the L2's time
        Server port;
        double pace = 1;         // what its CTA's math takes of the mean
        bool scheduled = false;  // an event for the next unit's issue is on its way
        std::uint32_t gpc = 0;
        std::int32_t freed = 0;  // steps that have set their stage free
        std::int32_t steps = 0;
        Stage* ring = nullptr;             // one for each unit under way
        TileL2::Coming* coming = nullptr;  // the same, most_boxes_ of each, by time
        Picoseconds* leaves = nullptr;     // of each place in the lead
        const Box** next_boxes = nullptr;  // of the next unit, by load of its phase
        std::int32_t index = 0;

        std::int32_t tile = -1;
        Picoseconds epilogue_until = 0;  // of the tile before, if it overlaps
        Picoseconds latency = 0;         // to the slices
        std::span<const Work::Phase> phases;
    };

    // Of a unit's steps.
    struct Math {
        Picoseconds last = 0;
        Picoseconds all = 0;
    };

    void begin(Picoseconds now, Sm& sm);
    void on_issue(Picoseconds now, Sm& sm);
    void put_loads(Picoseconds now, Sm& sm);
    void put_unit(Picoseconds now, Sm& sm);
    void schedule(Picoseconds now, Sm& sm);
    void push_issue(Picoseconds at, const Sm& sm) {
        wheel_.push(at, {static_cast<std::uint32_t>(sm.index), 0, TileEvent::Kind::Issue});
    }
    void pass_ports(Sm& sm, std::size_t stage);
    Math math_of(const Sm& sm, const Cursor& unit);
    // What the math of a unit's steps beyond the lead takes. Their loads leave as much later than those that
    // the unit before sets free, at the pace of the unit's own math; and as much later than the unit begins
    // its event is taken, so that the next unit's loads are put to the L2 when they leave.
    Picoseconds beyond_lead(const Sm& sm, const Cursor& unit) const {
        if (unit.length <= lead_) return 0;
        const double mean = math_cycles(*unit.phase, sm.pace) + kernel_.math_jitter_cycles / 2;
        return (unit.length - lead_) * (cycles(mean) + step_gap_);
    }
    // A unit begins later than it could have because its first loads were late: those beyond the lead leave
    // later too, and its end waits as much longer. Half of that, since not all of it is their own latency:
    // with none or all of it time over traces/h200/gemm.csv is 2.1 or 1.2 % off the lines' in the median,
    // with half 1.3, and DRAM fills 0.8 or 1.2 %, with half 0.65.
    Picoseconds held_up(const Sm& sm, const Cursor& unit, Picoseconds issued) const {
        return unit.length <= lead_ ? 0 : std::max(issued - sm.free_from, Picoseconds{0}) / 2;
    }

    // One for all steps of a unit.
    Picoseconds release_jitter() {
        const double jitter = kernel_.release_jitter_cycles;
        return jitter > 0 ? cycles(jitter * (random_.uniform() - 0.5)) : 0;
    }
    void set_free(Sm& sm, const Cursor& unit, Picoseconds first, Picoseconds last);
    Picoseconds issue_stores(Picoseconds at, Sm& sm, const Cursor& unit);

    void enter_phase(const Sm& sm, Cursor& cursor) const;
    void advance(const Sm& sm, Cursor& cursor) const {
        ++cursor.unit;
        ++cursor.in_phase;
        cursor.step += cursor.length;
        cursor.in_lead += cursor.length;
        while (cursor.in_lead >= lead_) cursor.in_lead -= lead_;
        cursor.left -= cursor.length;
        if (cursor.left == 0) {
            ++cursor.phase;
            enter_phase(sm, cursor);
        }
        cursor.length = length_at(cursor);
    }
    std::int32_t length_at(const Cursor& cursor) const {
        return static_cast<std::int32_t>(units_.length_of(cursor.in_phase, cursor.left));
    }
    void find_boxes(Sm& sm) const;
    bool may_load(const Sm& sm) const {
        return sm.load.step < sm.steps && sm.load.step + std::min(sm.load.length, lead_) <= sm.freed + lead_;
    }
    // Where in an SM's ring.
    std::size_t stage_of(std::int32_t unit) const { return static_cast<std::size_t>(unit & (stages_ - 1)); }
    Sm& sm_at(std::int32_t index) { return sms_[static_cast<std::size_t>(index)]; }

    const StepUnits units_;
    const std::int32_t lead_;
    const std::int32_t stages_;  // a power of two, as many as the kernel has or more
    Picoseconds release_ = 0;    // from a step's math to its successor's loads
    Picoseconds step_gap_ = 0;   // from a step's math to the next one's, where it waits for it
    std::vector<Sm> sms_;
    // Of all SMs, one after the other.
    std::vector<Stage> ring_;
    std::vector<TileL2::Coming> coming_;
    std::vector<Picoseconds> leaves_;  // from when on the step may be loaded that the one there sets free
    std::vector<const Box*> next_boxes_;
};

}  // namespace l2lens
