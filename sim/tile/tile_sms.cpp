// SPDX-License-Identifier: Apache-2.0
#include "tile/tile_sms.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "schedule/wire.hpp"

namespace l2lens {
namespace {

// A box's last line comes from the fullest of its own slices: within half of the mean wait. Without it CTAs
// that share a box keep together that part with lines: launches with several CTAs an SM take 8 % more or less
// time than with lines, in the mean over the split fit of traces/h200/gemm_more.csv, with it 6 %, and ask
// for 8 and 5 % more or fewer sectors over gemm.csv. Not where CTAs have their SM to themselves: Kendall's
// tau by time over gemm.csv and live_groups.csv would be 0.92 for 0.94. (All of it counted before boxes from
// DRAM passed an SM's port as their lines come.)
constexpr double kUnevenWait = 1.0;

}  // namespace

TileSms::TileSms(const Machine& machine, const Work& work, const BoxTable& boxes, const BoxPaces& paces,
                 Mode mode, int ctas_per_sm, std::uint64_t seed, TileWheel& wheel, TileL2& l2)
    : TileCtas(machine, work, boxes, paces, mode, ctas_per_sm, seed, wheel, l2),
      stages_(kernel_.stages),
      lead_(static_cast<std::int32_t>(load_lead(kernel_))),
      programs_(work, lead_),
      one_event_(ctas_per_sm == 1 && kernel_.pipeline == Pipeline::Multistage && kernel_.stages > 1),
      stages_are_power_of_two_(std::has_single_bit(static_cast<unsigned>(kernel_.stages))) {
    const std::vector<TurnShare> shares = turn_shares(machine);
    std::vector<std::int32_t> last_of_gpc(static_cast<std::size_t>(machine.gpcs), -1);
    for (std::size_t id = 0; id < machine.sms.size(); ++id) {
        const auto gpc = static_cast<std::size_t>(machine.sms[id].gpc);
        SmState sm;
        sm.latency = sm_wire(machine, static_cast<int>(id), 0).latency;
        sm.gpc = static_cast<std::uint32_t>(gpc);
        if (ctas_per_sm > 1) sm.share = shares[id];
        sm.previous_in_gpc = last_of_gpc[gpc];
        if (sm.previous_in_gpc >= 0)
            sms_[static_cast<std::size_t>(sm.previous_in_gpc)].next_in_gpc = static_cast<std::int32_t>(id);
        last_of_gpc[gpc] = static_cast<std::int32_t>(id);
        sms_.push_back(sm);
    }
    for (SmState& sm : sms_) sm.own_way = sm.latency - from_ns(machine.latency.sm_to_slice_ns);
    slots_.resize(sms_.size() * static_cast<std::size_t>(ctas_per_sm));
    ring_.resize(slots_.size() * static_cast<std::size_t>(stages_));
    stage_free_.resize(ring_.size());
    leaves_.resize(slots_.size() * static_cast<std::size_t>(lead_));
    coming_.resize(ring_.size() * most_boxes_);
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].sm = static_cast<std::int32_t>(i) / ctas_per_sm;
    set_cycle(1000.0 / machine.clock.sm_max_ghz);
}

void TileSms::set_cycle(double picoseconds) {
    cycle_ = picoseconds;
    refill_ = cycles(machine_.latency.release_cycles + kernel_.release_cycles);
    release_ = kernel_.waits_for_math() ? cycles(kernel_.step_gap_cycles) : refill_;
    refill_jitter_ = kernel_.release_jitter_cycles;
    if (kernel_.pipeline == Pipeline::WarpSpecialized) {
        refill_ += cycles(machine_.latency.handshake_cycles);
        refill_jitter_ = machine_.latency.handshake_jitter_cycles;
        poll_ = cycles(machine_.latency.poll_cycles);
    }
    load_interval_ = cycles(kernel_.load_interval_cycles);
    load_issue_ = cycles(machine_.latency.load_issue_cycles);
}

void TileSms::start(const Start& start) {
    Slot& s = slot(start.slot);
    const bool goes_on = s.tiles.next == start.tile;
    const std::int32_t previous = goes_on ? s.tiles.tile : -1;
    if (!goes_on) begin_anew(start.tile, s);
    s.resident = true;
    s.tiles = {previous, start.tile, loads_on_ ? start.next : -1};
    s.steps = s.loadable;
    if (s.tiles.next >= 0) s.loadable += static_cast<std::int32_t>(work_.steps(s.tiles.next));
    load_into_next(s);
    s.cluster = start.cluster;
    s.pace = pace_of(start.tile, sm_of(s).gpc, start.time);
    count_demand(work_.program(start.tile));
    const bool loaded_ahead = loads_on_ ? goes_on : s.epilogue_until > 0;
    wheel_.push(start.time + (loaded_ahead ? 0 : prologue(start.tile)),
                {static_cast<std::uint32_t>(start.slot), 0, TileEvent::Kind::Begin});
    draw_if_due(start.time, start.slot);
}

// A tile of which nothing has been loaded.
void TileSms::begin_anew(std::int32_t tile, Slot& s) const {
    const std::int32_t sm = s.sm;
    const Picoseconds epilogue_until = s.epilogue_until;
    s = Slot{};
    s.sm = sm;
    s.epilogue_until = epilogue_until;
    s.loadable = static_cast<std::int32_t>(work_.steps(tile));
    s.load = s.math = s.done = s.due = s.to_release = s.refill = programs_.first(tile);
}

// Loads that were through with all tiles that were known go on with the next one.
void TileSms::load_into_next(Slot& s) const {
    for (Cursor* cursor : {&s.load, &s.due}) {
        programs_.enter(s.tiles, *cursor);
        programs_.pass_stores(s.tiles, s.loadable, *cursor);
    }
}

// It was drawn at `time`.
void TileSms::announce(const Next& next) {
    Slot& s = slot(next.slot);
    s.announced = next.tile;
    s.announced_at = next.time + from_ns(kernel_.next_tile_ns);
    wheel_.push(s.announced_at, {static_cast<std::uint32_t>(next.slot), 0, TileEvent::Kind::Announce});
}

// Unless the CTA was through with its tile before and has begun the next one without it.
void TileSms::on_announced(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    if (s.announced < 0 || now < s.announced_at) return;
    s.tiles.next = std::exchange(s.announced, -1);
    s.loadable += static_cast<std::int32_t>(work_.steps(s.tiles.next));
    for (Cursor* cursor : {&s.math, &s.done, &s.to_release, &s.refill}) programs_.enter(s.tiles, *cursor);
    load_into_next(s);
    release_if_due(now, index);
    want_loads(now, index);
}

// All of the tile's loads have left, and what comes next is not known.
void TileSms::draw_if_due(Picoseconds now, std::int32_t index) {
    const Slot& s = slot(index);
    if (!loads_on_ || s.load.step < s.loadable || s.tiles.next >= 0) return;
    if (s.cluster.is_first()) draws_.push_back({now, index});
}

Exit TileSms::leave(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    s.resident = false;
    return {now, std::max(now, s.epilogue_until), index, s.tiles.tile};
}

void TileSms::handle(Picoseconds now, const TileEvent& event) {
    using Kind = TileEvent::Kind;
    const auto index = static_cast<std::int32_t>(event.a);
    switch (event.kind) {
        case Kind::Begin:
            return begin(now, index);
        case Kind::Announce:
            return on_announced(now, index);
        case Kind::Load:
            return on_load(now, index);
        case Kind::Landed:
            return on_landed(now, index, event.b);
        case Kind::Issue:
            return on_issue(now, index);
        case Kind::MathDone:
            return on_math_done(now, index);
        default:
            return;
    }
}

void TileSms::begin(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    if (s.tiles.previous < 0) {
        s.last_done = s.permit = now;
        s.permitted = true;
        for (std::int32_t i = 0; i < lead_; ++i) leaves(index, i) = now;
    }
    want_loads(now, index);
    schedule(now, index);
}

// One of a stage's boxes will be at its GPC at a time that is known.
void TileSms::add_box(std::int32_t index, std::size_t number, const TileL2::Coming& box) {
    Stage& to = stage(index, number);
    TileL2::Coming* first = coming(index, number);
    TileL2::Coming* place = first + to.boxes++;
    for (; place > first && place[-1].at > box.at; --place) place[0] = place[-1];
    *place = box;
    to.ready = std::max(to.ready, box.at);
}

// A stage's boxes have left.
void TileSms::on_their_way(Picoseconds now, std::int32_t index, std::size_t number) {
    const Stage& of = stage(index, number);
    if (ctas_per_sm_ > 1 && of.boxes > 0) {
        // Who else uses the SM's port must find it as it is then.
        wheel_.push(of.ready, {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(number),
                               TileEvent::Kind::Landed});
    } else {
        schedule(now, index);
    }
}

void TileSms::on_landed(Picoseconds now, std::int32_t index, std::size_t number) {
    pass_ports(index, number);
    schedule(now, index);
}

Picoseconds TileSms::uneven(Picoseconds wait) {
    if (ctas_per_sm_ == 1 || wait == 0) return wait;
    return static_cast<Picoseconds>(static_cast<double>(wait) *
                                    (1 + kUnevenWait * (random_.uniform() - 0.5)));
}

// The data of a stage's boxes, which have come one line after the other: through the port of the GPC,
// then into the SM.
void TileSms::pass_ports(std::int32_t index, std::size_t number) {
    Stage& of = stage(index, number);
    SmState& sm = sm_of(slot(index));
    const TileL2::Coming* box = coming(index, number);
    for (; of.boxes > 0; --of.boxes, ++box) {
        const BoxPace& pace = paces_.of(box->shape);
        const Picoseconds at = l2_.settled(*box);
        const Picoseconds through = at + uneven(l2_.waits(at, sm.gpc, sm.share));
        of.ready = std::max(of.ready, sm.port.take_stream(through, 2 * pace.half_span + box->spread,
                                                          pace.in_sm, pace.last_in_sm));
    }
}

// Puts the next step's issue on the wheel, when it is known when it can be issued.
void TileSms::schedule(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    if (s.scheduled || !s.permitted || s.math.step >= std::min(s.load.step, s.steps)) return;
    Picoseconds at = std::max(s.permit, s.epilogue_until);
    if (programs_.takes_stage(*s.math.phase)) {
        const Stage& next = stage(index, stage_of(s.math));
        if (ctas_per_sm_ > 1 && next.boxes > 0) return;
        at = std::max(at, next.ready);
    }
    if (one_event_) at = std::max(at, s.last_done);
    s.scheduled = true;
    wheel_.push(std::max(at, now), {static_cast<std::uint32_t>(index), 0, TileEvent::Kind::Issue});
}

void TileSms::on_issue(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    s.scheduled = false;
    if (programs_.takes_stage(*s.math.phase)) {
        const std::size_t number = stage_of(s.math);
        pass_ports(index, number);
        if (stage(index, number).ready > now) return schedule(now, index);
    }
    s.permitted = false;
    if (one_event_) return issue_alone(now, index);
    const bool math = s.math.phase->has_math();
    s.issued = now + handing_over(*s.math.phase);
    s.math_wait.issued(now, s.done.step == s.math.step);
    programs_.advance(s.tiles, s.math);
    if (math) {
        start_math(now, s.sm);
    } else if (s.done.step + 1 == s.math.step) {
        retire(now, index);
    }
    release_if_due(now, index);
}

// A step of a CTA that has its SM to itself: all of it is known.
void TileSms::issue_alone(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    const Cursor step = s.math;
    const Picoseconds done = now + (step.phase->has_math() ? math_time(s, step) : 0);
    programs_.advance(s.tiles, s.math);
    retire(done, index);
    if (s.math.step >= s.steps) return;
    const Picoseconds released = kernel_.waits_for_math() ? done : now + handing_over(*step.phase);
    set_free(step, released + to_refill(), index);
    permit(released, index);
}

// The CTA goes on past step k when k is issued and k-1 has retired: one step computes while the next is
// prepared. With a single stage, or when it waits for its math, k itself must have retired.
void TileSms::release_if_due(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    const Cursor step = s.to_release;
    const bool last = step.step + 1 >= s.loadable;
    const std::int32_t retired = step.step + (stages_ == 1 || kernel_.waits_for_math() ? 1 : 0);
    if (last || step.step >= s.math.step || s.done.step < retired) return;
    programs_.advance(s.tiles, s.to_release);
    const Picoseconds released = std::max(now, s.issued);
    if (kernel_.pipeline == Pipeline::WarpSpecialized) {
        refill(released, step, index);
    } else {
        set_free(step, released + to_refill(), index);
    }
    permit(released, index);
}

// Frees the stages of steps whose math has retired now that the one after them is issued.
void TileSms::refill(Picoseconds now, const Cursor& released, std::int32_t index) {
    Slot& s = slot(index);
    const std::int32_t in_flight = stages_ > 1 ? 1 : 0;
    for (; s.refill.step + in_flight <= released.step; programs_.advance(s.tiles, s.refill)) {
        const bool freed_already = s.refill.staged < s.freed;
        if (!freed_already && s.refill.phase->has_math()) set_free(s.refill, now + to_refill(), index);
    }
}

void TileSms::permit(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    s.permit = now + release_;
    s.permitted = true;
    want_loads(now, index);
    schedule(now, index);
}

// The step lets the one load that comes `lead_` later.
void TileSms::set_free(const Cursor& step, Picoseconds from, std::int32_t index) {
    slot(index).freed = step.staged + 1;
    leaves(index, step.in_lead) = from;
}

void TileSms::start_math(Picoseconds now, std::int32_t sm) {
    SmState& state = sms_[static_cast<std::size_t>(sm)];
    if (state.math_busy) return;
    const std::int32_t next = next_with_step(
        slots_, sm * ctas_per_sm_, (sm + 1) * ctas_per_sm_,
        [](const Slot& s) { return s.resident && s.done.step < s.math.step && s.done.phase->has_math(); });
    if (next < 0) return;
    state.math_busy = true;
    wheel_.push(now + math_time(slot(next), slot(next).done),
                {static_cast<std::uint32_t>(next), 0, TileEvent::Kind::MathDone});
}

void TileSms::on_math_done(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    sm_of(s).math_busy = false;
    retire(now, index);
    // A step without math that waited for this one retires with it.
    while (s.done.step < s.math.step && !s.done.phase->has_math()) retire(now, index);
    release_if_due(now, index);
    start_math(now, s.sm);
}

// The step's results are there at `at`: its stores leave, its stage is free, and the CTA may be over.
void TileSms::retire(Picoseconds at, std::int32_t index) {
    Slot& s = slot(index);
    const Cursor step = s.done;
    const Work::Phase& phase = *step.phase;
    const bool epilogue = phase.first_load == phase.first_store;
    s.last_done = at;
    demand_.flops += phase.math_flops;
    programs_.advance(s.tiles, s.done);
    s.math_wait.retired();
    Picoseconds last_stored = at;
    if (phase.first_store < phase.end)
        last_stored = issue_stores(at, at + (epilogue ? half_epilogue_ : 0), index, phase, step.in_phase);
    if (s.done.step == s.steps) {
        s.epilogue_until = end(at, last_stored, index, s.tiles.tile);
        return;
    }
    if (kernel_.pipeline == Pipeline::WarpSpecialized && !phase.has_math() && programs_.takes_stage(phase)) {
        set_free(step, at + refill_, index);
        want_loads(at, index);
    }
}

}  // namespace l2lens
