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
// tau by time over gemm.csv and live_groups.csv would be 0.92 for 0.94.
constexpr double kUnevenWait = 1.0;

}  // namespace

TileSms::TileSms(const Machine& machine, const Work& work, const BoxTable& boxes, const BoxPaces& paces,
                 Mode mode, int ctas_per_sm, std::uint64_t seed, TileWheel& wheel, TileL2& l2)
    : TileCtas(machine, work, boxes, paces, mode, ctas_per_sm, seed, wheel, l2),
      stages_(kernel_.stages),
      lead_(static_cast<std::int32_t>(load_lead(kernel_))),
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
    Cursor first;
    first.tile = tile;
    first.phase = work_.program(tile).data();
    enter({}, first);
    s.load = s.math = s.done = s.due = s.to_release = s.refill = first;
}

// Loads that were through with all tiles that were known go on with the next one.
void TileSms::load_into_next(Slot& s) const {
    for (Cursor* cursor : {&s.load, &s.due}) {
        enter(s.tiles, *cursor);
        pass_stores(s, *cursor);
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
    for (Cursor* cursor : {&s.math, &s.done, &s.to_release, &s.refill}) enter(s.tiles, *cursor);
    load_into_next(s);
    release_if_due(now, index);
    want_loads(now, index);
}

// All of the tile's loads have left, and what comes next is not known.
void TileSms::draw_if_due(Picoseconds now, std::int32_t index) {
    const Slot& s = slot(index);
    if (!loads_on_ || s.load.step < s.loadable || s.tiles.next >= 0) return;
    const bool first_of_cluster = (s.cluster.members & ((1u << s.cluster.rank) - 1)) == 0;
    if (first_of_cluster) draws_.push_back({now, index});
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

// To the first step of this phase, or of the next one that has any, in this tile or the one after it.
void TileSms::enter(const TileChain& tiles, Cursor& cursor) const {
    for (;;) {
        const auto program = work_.program(cursor.tile);
        const Work::Phase* const end = program.data() + program.size();
        while (cursor.phase < end && cursor.phase->count <= 0) ++cursor.phase;
        if (cursor.phase < end) return;
        const std::int32_t next = tiles.after(cursor.tile);
        if (next < 0) return;
        cursor.tile = next;
        cursor.phase = work_.program(next).data();
    }
}

void TileSms::advance(const TileChain& tiles, Cursor& cursor) const {
    ++cursor.step;
    if (takes_stage(*cursor.phase)) {
        ++cursor.staged;
        if (++cursor.in_lead == lead_) cursor.in_lead = 0;
    }
    if (++cursor.in_phase < cursor.phase->count) return;
    cursor.in_phase = 0;
    ++cursor.phase;
    enter(tiles, cursor);
}

// A producer has nothing to do with steps that only store: they take no stage.
void TileSms::pass_stores(const Slot& slot, Cursor& cursor) const {
    while (cursor.step < slot.loadable && !takes_stage(*cursor.phase)) advance(slot.tiles, cursor);
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
    if (takes_stage(*s.math.phase)) {
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
    if (takes_stage(*s.math.phase)) {
        const std::size_t number = stage_of(s.math);
        pass_ports(index, number);
        if (stage(index, number).ready > now) return schedule(now, index);
    }
    s.permitted = false;
    if (one_event_) return issue_alone(now, index);
    const bool math = has_math(*s.math.phase);
    s.issued = now + handing_over(*s.math.phase);
    s.math_wait.issued(now, s.done.step == s.math.step);
    advance(s.tiles, s.math);
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
    const Picoseconds done = now + (has_math(*step.phase) ? math_time(s, step) : 0);
    advance(s.tiles, s.math);
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
    advance(s.tiles, s.to_release);
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
    for (; s.refill.step + in_flight <= released.step; advance(s.tiles, s.refill)) {
        const bool freed_already = s.refill.staged < s.freed;
        if (!freed_already && has_math(*s.refill.phase)) set_free(s.refill, now + to_refill(), index);
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
        [](const Slot& s) { return s.resident && s.done.step < s.math.step && has_math(*s.done.phase); });
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
    while (s.done.step < s.math.step && !has_math(*s.done.phase)) retire(now, index);
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
    advance(s.tiles, s.done);
    s.math_wait.retired();
    Picoseconds last_stored = at;
    if (phase.first_store < phase.end)
        last_stored = issue_stores(at, at + (epilogue ? half_epilogue_ : 0), index, phase, step.in_phase);
    if (s.done.step == s.steps) {
        s.epilogue_until = end(at, last_stored, index, s.tiles.tile);
        return;
    }
    if (kernel_.pipeline == Pipeline::WarpSpecialized && !has_math(phase) && takes_stage(phase)) {
        set_free(step, at + refill_, index);
        want_loads(at, index);
    }
}

// Loads the steps whose stages are free. A multicast lands in the whole cluster, so its loads leave when the
// stage is free in all of it.
void TileSms::want_loads(Picoseconds now, std::int32_t index) {
    Slot& own = slot(index);
    if (std::has_single_bit(own.cluster.members)) {
        // Put to the L2 in the order in which they will be there, not in that in which they leave.
        if (own.loading || !may_load(own, own.load)) return;
        return load_at(std::max(now, asks_at(leaves(index, own.load.in_lead), own)), index);
    }
    while (may_load(own, own.due)) {
        stage_free(index, stage_of(own.due)) = leaves(index, own.due.in_lead);
        advance(own.tiles, own.due);
        pass_stores(own, own.due);
        load_cluster(now, index);
    }
}

void TileSms::load_at(Picoseconds at, std::int32_t index) {
    Slot& s = slot(index);
    s.loading = true;
    wheel_.push(at + sm_of(s).own_way, {static_cast<std::uint32_t>(index), 0, TileEvent::Kind::Load});
}

void TileSms::on_load(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    s.loading = false;
    while (may_load(s, s.load)) {
        const Picoseconds leave = leaves(index, s.load.in_lead);
        const Picoseconds asks = asks_at(leave, s);
        if (asks > now) return load_at(asks, index);
        const std::size_t number = stage_of(s.load);
        stage(index, number) = {leave, 0};
        issue_loads(now, leave, index);
        on_their_way(now, index, number);
    }
}

void TileSms::load_cluster(Picoseconds now, std::int32_t index) {
    bool all = true;
    Picoseconds leave = 0;
    std::int32_t last = index;
    for_each_member(index, [&](std::int32_t member) {
        const Slot& s = slot(member);
        all = all && s.load.step < s.due.step;
        if (stage_free(member, stage_of(s.load)) <= leave) return;
        leave = stage_free(member, stage_of(s.load));
        last = member;
    });
    if (!all) return;
    for_each_member(index, [&](std::int32_t member) {
        stage(member, stage_of(slot(member).load)) = {leave, 0};
    });
    const Picoseconds heard = leave + cycles(machine_.latency.sm_to_sm_cycles);  // by the others
    const std::size_t number = stage_of(slot(index).load);                       // the same in all of it
    for_each_member(index,
                    [&](std::int32_t member) { issue_loads(now, member == last ? leave : heard, member); });
    for_each_member(index, [&](std::int32_t member) { on_their_way(now, member, number); });
}

void TileSms::issue_loads(Picoseconds now, Picoseconds leave, std::int32_t index) {
    Slot& s = slot(index);
    SmState& sm = sm_of(s);
    const Cursor step = s.load;
    const std::size_t ring = stage_of(step);
    const Picoseconds way = load_issue_ + sm.latency - l2_.way_in();
    const Picoseconds asked = asks_at(leave, s);
    s.asks_from = asked + load_interval_;
    Picoseconds start = sm.engine.begin_load(asked);
    for (const std::int32_t walk : work_.loads(*step.phase)) {
        const Box& box = boxes_.box(walk, step.in_phase);
        const BoxPace& pace = paces_.of(box.shape);
        if (pace.busy == 0) continue;  // wholly outside its tensor
        Picoseconds reached = start + way + pace.half_step;
        if (ctas_per_sm_ > 1) reached += l2_.longer_at_tags(reached, sm.gpc, sm.share);
        start += pace.busy;
        const BoxTable::Cast cast = boxes_.cast(walk);
        const bool multicast = cast.receivers > 1;  // no other's to join, and joins none
        const TileL2::Coming coming = l2_.read(now, reached, box, sm.gpc, multicast);
        if (!multicast) {
            add_box(index, ring, coming);
        } else {
            for_each_receiver(index, cast.axis,
                              [&](std::int32_t receiver) { add_box(receiver, ring, coming); });
        }
    }
    sm.engine.end_load(start);
    const std::int32_t tile = s.load.tile;
    advance(s.tiles, s.load);
    pass_stores(s, s.load);
    if (s.load.tile != tile) s.asks_from += from_ns(kernel_.next_tile_ns);
    draw_if_due(now, index);
}

// Those that leave from `at` on; when the last of them has left the SM.
Picoseconds TileSms::issue_stores(Picoseconds now, Picoseconds at, std::int32_t index,
                                  const Work::Phase& phase, std::int32_t k) {
    const Slot& s = slot(index);
    SmState& sm = sm_of(s);
    const Picoseconds begin = sm.engine.begin_store(at);
    Picoseconds start = begin;
    bool boxes = false;
    for (const std::int32_t walk : work_.stores(phase)) {
        const Box& box = boxes_.box(walk, k);
        const BoxPace& pace = paces_.of(box.shape);
        if (pace.busy == 0) continue;
        wheel_.push(start + load_issue_ + sm.latency - l2_.way_in() + pace.half_span,
                    {box.id, sm.gpc, TileEvent::Kind::Write});
        start += pace.busy;
        boxes = boxes || holds_loads(walk);
    }
    sm.engine.end_store(now, begin, start, boxes);
    return start;
}

template <class Body>
void TileSms::for_each_member(std::int32_t index, Body&& body) {
    const ClusterPlace place = slot(index).cluster;
    const std::int32_t number = index % ctas_per_sm_;  // the same slot on every SM of the gang
    std::array<std::int32_t, 32> sms{};
    const auto ranks = static_cast<std::size_t>(std::bit_width(place.members));
    sms[place.rank] = slot(index).sm;
    for (std::size_t rank = place.rank + 1u; rank < ranks; ++rank)
        sms[rank] = sms_[static_cast<std::size_t>(sms[rank - 1])].next_in_gpc;
    for (std::size_t rank = place.rank; rank > 0; --rank)
        sms[rank - 1] = sms_[static_cast<std::size_t>(sms[rank])].previous_in_gpc;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
        if ((place.members >> rank & 1u) != 0) body(sms[rank] * ctas_per_sm_ + number);
    }
}

template <class Body>
void TileSms::for_each_receiver(std::int32_t index, std::uint32_t axis, Body&& body) {
    const int columns = kernel_.cluster[1];
    const int own_rank = slot(index).cluster.rank;
    for_each_member(index, [&](std::int32_t member) {
        const int rank = slot(member).cluster.rank;
        const bool same =
            axis == 0 ? rank % columns == own_rank % columns : rank / columns == own_rank / columns;
        if (same) body(member);
    });
}

}  // namespace l2lens
