// SPDX-License-Identifier: Apache-2.0
// All SMs and the CTAs on them when a box is the unit: the loop of schedule/gpc.hpp, with the same rules of
// issue, release and retirement. CTAs that are alone on their SM have a loop of their own (lone_ctas.hpp):
// here CTAs share an SM, belong to a cluster, or load for their consumers.
//
// A step is one event: at the moment at which its math can begin its boxes' turns at the ports are looked up,
// in what the ports remember, and the next loads leave. A box is put to the L2 when it leaves its SM, with
// the time at which it will be there: all boxes have the same way to go, but for some nanoseconds. When the
// math of a cluster's CTA that has its SM to itself ends is then known; CTAs that share tensor cores, and
// producers that wait for a step's end, take a second event for that. Producers go on into the next tile, so
// that a slot counts its steps from one tile to the next. When things happen is in tile_sms.cpp, what is sent
// then in tile_sms_boxes.cpp.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/load_engine.hpp"
#include "schedule/producer_looks.hpp"
#include "schedule/program_cursor.hpp"
#include "schedule/tensor_cores.hpp"

#include "tile/server.hpp"
#include "tile/staged_programs.hpp"
#include "tile/tile_ctas.hpp"

namespace l2lens {

class TileSms : public TileCtas {
public:
    TileSms(const Machine& machine, const Work& work, const BoxTable& boxes, const BoxPaces& paces, Mode mode,
            int ctas_per_sm, std::uint64_t seed, TileWheel& wheel, TileL2& l2);

    // Places a CTA; it begins to load after its prologue.
    void start(const Start& start);
    // What a CTA's slot has drawn to follow it: a prologue later its loads may leave.
    void announce(const Next& next);
    // Slots whose CTAs have loaded their tile and would go on: what they draw is to be announced.
    std::vector<Draw>& draws() { return draws_; }
    // An event of a CTA, but for its exit.
    void handle(Picoseconds now, const TileEvent& event);

    // A CTA leaves its slot at `now`.
    Exit leave(Picoseconds now, std::int32_t slot);

    // SM cycles from now on last this long.
    void set_cycle(double picoseconds);

private:
    // A step's boxes.
    struct Stage {
        Picoseconds ready = 0;   // nothing of it is there before; with its boxes, all of it
        std::int32_t boxes = 0;  // that have not gone through the ports
    };

    using Cursor = StagedCursor;

    struct Slot {
        TileChain tiles;
        std::int32_t announced = -1;  // the next tile, whose loads may leave from `announced_at` on
        Picoseconds announced_at = 0;
        Cursor load;                // next step to load
        Cursor math;                // next step to issue
        Cursor done;                // next step to retire
        Cursor due;                 // in a cluster: next step whose stage is not free here yet
        std::int32_t steps = 0;     // up to the tile's end
        std::int32_t loadable = 0;  // up to the next one's, where loads go on into it
        std::int32_t sm = 0;
        Picoseconds permit = 0;  // the next step may be issued from here on
        Picoseconds last_done = 0;
        std::int32_t freed = 0;  // of the steps with a stage those that have set it free
        Cursor to_release;       // next step whose successor may go on
        Cursor refill;           // warp-specialized: next step whose stage is to be freed
        ClusterPlace cluster;
        bool permitted = false;
        bool loading = false;        // an event for the next loads is on its way
        Picoseconds asks_from = -1;  // the thread that asks has time for the next step's boxes from here on
        Picoseconds issued = 0;      // when the last issued step was with the tensor cores
        bool scheduled = false;      // an event for the next step's issue is on its way
        bool resident = false;
        Picoseconds epilogue_until = 0;  // of the tile before, if it overlaps
        double pace = 1;                 // what its math takes of the mean
        MathWait math_wait;
    };

    struct SmState {
        Server port;
        LoadEngine engine;
        Picoseconds own_way = 0;  // of its way to the slices, beyond that of the nearest SM
        Picoseconds latency = 0;  // to the slices
        TurnShare share;
        bool math_busy = false;
        std::uint32_t gpc = 0;
        std::int32_t next_in_gpc = -1;  // SM with the next higher id
        std::int32_t previous_in_gpc = -1;
    };

    void begin_anew(std::int32_t tile, Slot& s) const;
    void load_into_next(Slot& s) const;
    void begin(Picoseconds now, std::int32_t index);
    void on_announced(Picoseconds now, std::int32_t index);
    void draw_if_due(Picoseconds now, std::int32_t index);
    void load_at(Picoseconds at, std::int32_t index);
    void on_load(Picoseconds now, std::int32_t index);
    void on_landed(Picoseconds now, std::int32_t index, std::size_t number);
    void on_issue(Picoseconds now, std::int32_t index);
    void on_math_done(Picoseconds now, std::int32_t index);
    void schedule(Picoseconds now, std::int32_t index);
    void pass_ports(std::int32_t index, std::size_t number);
    void on_their_way(Picoseconds now, std::int32_t index, std::size_t number);
    void add_box(std::int32_t index, std::size_t number, const TileL2::Coming& box);
    void issue_alone(Picoseconds now, std::int32_t index);
    void release_if_due(Picoseconds now, std::int32_t index);
    void refill(Picoseconds now, const Cursor& released, std::int32_t index);
    void permit(Picoseconds now, std::int32_t index);
    void start_math(Picoseconds now, std::int32_t sm);
    void retire(Picoseconds at, std::int32_t index);
    void set_free(const Cursor& step, Picoseconds leaves, std::int32_t index);
    void want_loads(Picoseconds now, std::int32_t index);
    void load_cluster(Picoseconds now, std::int32_t index);
    void issue_loads(Picoseconds now, Picoseconds leaves, std::int32_t index);
    Picoseconds issue_stores(Picoseconds now, Picoseconds at, std::int32_t index, const Work::Phase& phase,
                             std::int32_t k);

    // Of the step at this position.
    Picoseconds math_time(const Slot& slot, const Cursor& step) {
        const double mean = math_cycles(*step.phase, slot.pace);
        const double jitter = kernel_.math_jitter_cycles;
        return cycles(mean + (jitter > 0 ? jitter * random_.uniform() : 0));
    }
    // Of the wait for ports.
    Picoseconds uneven(Picoseconds wait);
    // When a CTA asks for boxes whose stage is free at `free`.
    Picoseconds asks(Picoseconds free, const Slot& s) const { return asks_at(free, s.asks_from, poll_); }
    // From a step's math to the loads into its stage.
    Picoseconds to_refill() {
        if (refill_jitter_ <= 0) return refill_;
        return refill_ + cycles(refill_jitter_ * (random_.uniform() - 0.5));
    }
    std::size_t stage_of(const Cursor& cursor) const {
        return static_cast<std::size_t>(stages_are_power_of_two_ ? cursor.staged & (stages_ - 1)
                                                                 : cursor.staged % stages_);
    }
    // From when on the step may be loaded that the one at this place of the lead sets free.
    Picoseconds& leaves(std::int32_t index, std::int32_t in_lead) {
        return leaves_[static_cast<std::size_t>(index) * static_cast<std::size_t>(lead_) +
                       static_cast<std::size_t>(in_lead)];
    }
    bool may_load(const Slot& s, const Cursor& step) const {
        return step.step < s.loadable && step.staged < s.freed + lead_;
    }
    Stage& stage(std::int32_t index, std::size_t number) {
        return ring_[static_cast<std::size_t>(index) * static_cast<std::size_t>(stages_) + number];
    }
    // The first of a stage's boxes; a pointer, since a kernel that only stores has room for none.
    TileL2::Coming* coming(std::int32_t index, std::size_t number) {
        const std::size_t stage =
            static_cast<std::size_t>(index) * static_cast<std::size_t>(stages_) + number;
        return coming_.data() + stage * most_boxes_;
    }
    Picoseconds& stage_free(std::int32_t index, std::size_t number) {
        return stage_free_[static_cast<std::size_t>(index) * static_cast<std::size_t>(stages_) + number];
    }
    Slot& slot(std::int32_t index) { return slots_[static_cast<std::size_t>(index)]; }
    SmState& sm_of(const Slot& s) { return sms_[static_cast<std::size_t>(s.sm)]; }
    template <class Body>
    void for_each_member(std::int32_t index, Body&& body);
    template <class Body>
    void for_each_receiver(std::int32_t index, int axis, Body&& body);

    const std::int32_t stages_;
    const std::int32_t lead_;
    const StagedPrograms programs_;
    const bool one_event_;  // a step: in clusters
    const bool stages_are_power_of_two_;
    Picoseconds release_ = 0;        // from a step's math to the CTA's going on
    Picoseconds refill_ = 0;         // and to the loads into its stage, in the mean
    double refill_jitter_ = 0;       // within which that is uniform, cycles
    Picoseconds poll_ = 0;           // from one look of a waiting producer to its next; 0: it hears at once
    Picoseconds load_interval_ = 0;  // from a step's loads to a CTA's next ones, at least
    Picoseconds load_issue_ = 0;     // from a box's issue to its first line on the wire
    std::vector<SmState> sms_;
    std::vector<Slot> slots_;              // SM * CTAs per SM + slot
    std::vector<Stage> ring_;              // slot * stages + stage
    std::vector<TileL2::Coming> coming_;   // the same, most_boxes_ of each, by time
    std::vector<Picoseconds> stage_free_;  // the same: in a cluster, from when on a stage is free here
    std::vector<Picoseconds> leaves_;      // slot * lead + place in the lead
    std::vector<Draw> draws_;
};

}  // namespace l2lens
