// SPDX-License-Identifier: Apache-2.0
#include "tile/tile_sms.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "schedule/math_rate.hpp"
#include "schedule/pace.hpp"
#include "schedule/tensor_cores.hpp"
#include "schedule/wire.hpp"

namespace l2lens {
namespace {

// That a CTA receives, its cluster's multicasts included.
std::size_t most_boxes_of_a_step(const Work& work) {
    std::size_t most = 0;
    for (std::size_t tile = 0; tile < work.kernel().programs.size(); ++tile) {
        for (const Work::Phase& phase : work.program(static_cast<std::int32_t>(tile))) {
            std::size_t boxes = 0;
            for (const std::int32_t walk : work.loads(phase))
                boxes += static_cast<std::size_t>(work.walk(walk).multicast);
            most = std::max(most, boxes);
        }
    }
    return most;
}

}  // namespace

TileSms::TileSms(const Machine& machine, const Work& work, const BoxTable& boxes, const BoxPaces& paces,
                 int ctas_per_sm, std::uint64_t seed, TileWheel& wheel, TileL2& l2)
    : machine_(machine),
      work_(work),
      kernel_(work.kernel()),
      boxes_(boxes),
      paces_(paces),
      wheel_(wheel),
      l2_(l2),
      ctas_per_sm_(ctas_per_sm),
      units_(boxes.units()),
      stages_(kernel_.stages),
      lead_(static_cast<std::int32_t>(load_lead(kernel_))),
      one_event_(ctas_per_sm == 1 && kernel_.pipeline == Pipeline::Multistage && kernel_.stages > 1),
      stages_are_power_of_two_(std::has_single_bit(static_cast<unsigned>(kernel_.stages))),
      half_epilogue_(from_ns(kernel_.epilogue_ns / 2)),
      cycles_per_flop_(1.0 / math_rate(machine, kernel_.math)),
      random_(seed, 0x6C0000u) {
    std::vector<std::int32_t> last_of_gpc(static_cast<std::size_t>(machine.gpcs), -1);
    for (std::size_t id = 0; id < machine.sms.size(); ++id) {
        const auto gpc = static_cast<std::size_t>(machine.sms[id].gpc);
        SmState sm;
        sm.latency = sm_wire(machine, static_cast<int>(id), 0).latency;
        sm.gpc = static_cast<std::uint32_t>(gpc);
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
    most_boxes_ = most_boxes_of_a_step(work);
    coming_.resize(ring_.size() * most_boxes_);
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].sm = static_cast<std::int32_t>(i) / ctas_per_sm;
    set_cycle(1000.0 / machine.clock.sm_max_ghz);
}

void TileSms::set_cycle(double picoseconds) {
    cycle_ = picoseconds;
    release_ = cycles(machine_.latency.release_cycles);
    refill_ = release_;
    if (kernel_.pipeline == Pipeline::WarpSpecialized) refill_ += cycles(machine_.latency.handshake_cycles);
    load_issue_ = cycles(machine_.latency.load_issue_cycles);
}

void TileSms::start(const Start& start) {
    Slot& s = slot(start.slot);
    const std::int32_t sm = s.sm;
    const Picoseconds epilogue_until = s.epilogue_until;
    s = Slot{};
    s.sm = sm;
    s.epilogue_until = epilogue_until;
    s.tile = start.tile;
    s.phases = work_.program(start.tile);
    s.cluster = start.cluster;
    s.age = started_++;
    s.pace = draw_pace(kernel_.pace_spread, random_);
    s.steps = static_cast<std::int32_t>(work_.steps(start.tile));
    s.load = s.math = s.done = s.due = s.to_release = s.refill = first_unit(s);
    count_demand(s);
    wheel_.push(start.time + from_ns(kernel_.prologue_ns),
                {static_cast<std::uint32_t>(start.slot), 0, TileEvent::Kind::Begin});
}

// What the CTA will ask for.
void TileSms::count_demand(const Slot& s) {
    for (const Work::Phase& phase : s.phases) {
        for (const std::int32_t walk : work_.loads(phase)) {
            const BoxTable::Totals totals = boxes_.totals(walk);
            const auto receivers = static_cast<std::uint64_t>(work_.walk(walk).multicast);
            events_[Event::CoalescableRequests] += totals.requests;
            events_[Event::CoalescableSectors] += totals.sectors;
            events_[Event::DeliveredSectors] += totals.sectors * receivers;
            events_[Event::MulticastSectors] += totals.sectors * (receivers - 1);
        }
    }
}

Exit TileSms::leave(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    return {now, std::max(now, s.epilogue_until), index, std::exchange(s.tile, -1)};
}

void TileSms::handle(Picoseconds now, const TileEvent& event) {
    using Kind = TileEvent::Kind;
    const auto index = static_cast<std::int32_t>(event.a);
    switch (event.kind) {
        case Kind::Begin:
            return begin(now, index);
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

TileSms::Cursor TileSms::first_unit(const Slot& slot) const {
    Cursor cursor;
    enter_phase(slot, cursor);
    return cursor;
}

// To the first unit of this phase, or of the next one that has any.
void TileSms::enter_phase(const Slot& slot, Cursor& cursor) const {
    while (cursor.phase < slot.phases.size() && slot.phases[cursor.phase].count <= 0) ++cursor.phase;
    cursor.in_phase = 0;
    cursor.length = 1;
    if (cursor.phase < slot.phases.size())
        cursor.units_of_phase = static_cast<std::int32_t>(units_.units(slot.phases[cursor.phase].count));
}

void TileSms::advance(const Slot& slot, Cursor& cursor) const {
    ++cursor.unit;
    cursor.step += cursor.length;
    cursor.in_lead += cursor.length;
    if (cursor.in_lead >= lead_) cursor.in_lead -= lead_;
    if (++cursor.in_phase >= cursor.units_of_phase) {
        ++cursor.phase;
        enter_phase(slot, cursor);
        return;
    }
    cursor.length =
        static_cast<std::int32_t>(units_.length(cursor.in_phase, slot.phases[cursor.phase].count));
}

void TileSms::begin(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    s.issued = s.last_done = s.permit = now;
    s.permitted = true;
    for (std::int32_t i = 0; i < lead_; ++i) leaves(index, i) = now;
    want_loads(now, index);
    schedule(now, index);
}

// One of a stage's boxes will be at its GPC at a time that is known.
void TileSms::add_box(std::int32_t index, std::size_t number, const TileL2::Coming& box) {
    Stage& to = stage(index, number);
    TileL2::Coming* first = &coming(index, number);
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

// The data of a stage's boxes, which have come one line after the other: through the port of the GPC,
// then into the SM.
void TileSms::pass_ports(std::int32_t index, std::size_t number) {
    Stage& of = stage(index, number);
    SmState& sm = sm_of(slot(index));
    const TileL2::Coming* box = &coming(index, number);
    for (; of.boxes > 0; --of.boxes, ++box) {
        const BoxPace& pace = paces_.of(box->shape);
        const Picoseconds at = l2_.settled(*box);
        const Picoseconds through = at + l2_.waits(at, sm.gpc);
        of.ready =
            std::max(of.ready, sm.port.take_stream(through, 2 * pace.half_span, pace.in_sm, pace.last_in_sm));
    }
}

// Puts the next unit's issue on the wheel, when it is known when its first step can be issued.
void TileSms::schedule(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    if (s.scheduled || !s.permitted || s.math.step >= s.steps || s.math.unit >= s.load.unit) return;
    const Stage& next = stage(index, stage_of(s.math.unit));
    if (ctas_per_sm_ > 1 && next.boxes > 0) return;
    Picoseconds at = std::max({next.ready - next.spread, s.permit, s.epilogue_until});
    if (one_event_) at = std::max(at, s.last_done);
    s.scheduled = true;
    wheel_.push(std::max(at, now), {static_cast<std::uint32_t>(index), 0, TileEvent::Kind::Issue});
}

void TileSms::on_issue(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    s.scheduled = false;
    const std::size_t number = stage_of(s.math.unit);
    pass_ports(index, number);
    const Stage& own = stage(index, number);
    if (own.ready - own.spread > now) return schedule(now, index);
    s.permitted = false;
    s.issued = now;
    if (one_event_) return issue_alone(now, index);
    const bool math = has_math(phase_of(s, s.math));
    advance(s, s.math);
    if (math) {
        start_math(now, s.sm);
    } else if (s.done.unit + 1 == s.math.unit) {
        retire(now, index);
    }
    release_if_due(now, index);
}

// A unit of a CTA that has its SM to itself: all of it is known. Its first step begins now, its last one not
// before its boxes are there.
void TileSms::issue_alone(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    const Cursor unit = s.math;
    const Work::Phase& phase = phase_of(s, unit);
    Picoseconds last = 0, all = 0;  // the last step's math, and all of it
    if (has_math(phase)) {
        for (std::int32_t i = 0; i < unit.length; ++i) all += last = cycles(math_cycles(s, phase));
    }
    const Picoseconds done = std::max(now + all, stage(index, stage_of(unit.unit)).ready + last);
    advance(s, s.math);
    retire(done, index);
    if (s.math.step >= s.steps) return;
    set_free(unit, {now + refill_, done - last + refill_}, index);
    permit(now, index);
}

// The CTA goes on past step k when k is issued and k-1 has retired: one step computes while the next is
// prepared. With a single stage, k itself must have retired.
void TileSms::release_if_due(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    const Cursor unit = s.to_release;
    const bool last = unit.end() >= s.steps;
    const std::int32_t retired = unit.unit + (stages_ == 1 ? 1 : 0);
    if (last || unit.unit >= s.math.unit || s.done.unit < retired) return;
    advance(s, s.to_release);
    if (kernel_.pipeline == Pipeline::WarpSpecialized) {
        refill(now, unit, index);
    } else {
        set_free(unit, {now + refill_, now + refill_}, index);
    }
    permit(now, index);
}

// Frees the stages of units whose math has retired now that the one after them is issued.
void TileSms::refill(Picoseconds now, const Cursor& released, std::int32_t index) {
    Slot& s = slot(index);
    const std::int32_t in_flight = stages_ > 1 ? 1 : 0;
    for (; s.refill.unit + in_flight <= released.unit; advance(s, s.refill)) {
        const bool freed_already = s.refill.end() <= s.freed;
        if (!freed_already && has_math(phase_of(s, s.refill)))
            set_free(s.refill, {now + refill_, now + refill_}, index);
    }
}

void TileSms::permit(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    s.permit = now + release_;
    s.permitted = true;
    want_loads(now, index);
    schedule(now, index);
}

// The steps of a unit let those load that come `lead_` later.
void TileSms::set_free(const Cursor& unit, Leave leave, std::int32_t index) {
    slot(index).freed = unit.end();
    leaves(index, unit.in_lead) = leave.first;
    std::int32_t place = unit.in_lead;
    for (std::int32_t i = 1; i < unit.length; ++i) {
        if (++place == lead_) place = 0;
        leaves(index, place) = leave.first + (leave.last - leave.first) * i / (unit.length - 1);
    }
}

void TileSms::start_math(Picoseconds now, std::int32_t sm) {
    SmState& state = sms_[static_cast<std::size_t>(sm)];
    if (state.math_busy) return;
    const std::int32_t oldest =
        oldest_with_step(slots_, sm * ctas_per_sm_, (sm + 1) * ctas_per_sm_, [](const Slot& s) {
            return s.tile >= 0 && s.done.unit < s.math.unit && has_math(phase_of(s, s.done));
        });
    if (oldest < 0) return;
    const double length = math_cycles(slot(oldest), phase_of(slot(oldest), slot(oldest).done));
    state.math_busy = true;
    wheel_.push(now + cycles(length), {static_cast<std::uint32_t>(oldest), 0, TileEvent::Kind::MathDone});
}

void TileSms::on_math_done(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    sm_of(s).math_busy = false;
    retire(now, index);
    // A step without math that waited for this one retires with it.
    while (s.done.unit < s.math.unit && !has_math(phase_of(s, s.done))) retire(now, index);
    release_if_due(now, index);
    start_math(now, s.sm);
}

// The unit's results are there at `at`: its stores leave, its stage is free, and the CTA may be over.
void TileSms::retire(Picoseconds at, std::int32_t index) {
    Slot& s = slot(index);
    const Cursor unit = s.done;
    const Work::Phase& phase = phase_of(s, unit);
    const bool epilogue = phase.first_load == phase.first_store;
    s.last_done = at;
    demand_.flops += phase.math_flops * unit.length;
    advance(s, s.done);
    if (phase.first_store < phase.end)
        issue_stores(at + (epilogue ? half_epilogue_ : 0), index, phase, unit.in_phase);
    if (s.done.step == s.steps) {
        const double jitter = machine_.launch.exit_jitter_ns * random_.uniform();
        const Picoseconds finished = at + 2 * half_epilogue_;
        s.epilogue_until = kernel_.epilogue_overlaps ? finished : 0;
        wheel_.push((kernel_.epilogue_overlaps ? at : finished) + from_ns(jitter),
                    {static_cast<std::uint32_t>(index), 0, TileEvent::Kind::Exit});
        return;
    }
    if (kernel_.pipeline == Pipeline::WarpSpecialized && !has_math(phase)) {
        set_free(unit, {at + refill_, at + refill_}, index);
        want_loads(at, index);
    }
}

// Loads the units whose stages are free. A multicast lands in the whole cluster, so its loads leave when the
// stage is free in all of it.
void TileSms::want_loads(Picoseconds now, std::int32_t index) {
    Slot& own = slot(index);
    if (std::has_single_bit(own.cluster.members)) {
        // Put to the L2 in the order in which they will be there, not in that in which they leave.
        if (own.loading || !may_load(own, own.load)) return;
        own.loading = true;
        wheel_.push(now + sm_of(own).own_way, {static_cast<std::uint32_t>(index), 0, TileEvent::Kind::Load});
        return;
    }
    while (may_load(own, own.due)) {
        stage_free(index, stage_of(own.due.unit)) = leave_of(own.due, index);
        advance(own, own.due);
        load_cluster(now, index);
    }
}

void TileSms::on_load(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    s.loading = false;
    while (may_load(s, s.load)) {
        const std::size_t number = stage_of(s.load.unit);
        const Leave leave = leave_of(s.load, index);
        stage(index, number) = {leave.last, 0, 0};
        issue_loads(now, leave, index);
        on_their_way(now, index, number);
    }
}

void TileSms::load_cluster(Picoseconds now, std::int32_t index) {
    bool all = true;
    Leave leave;
    for_each_member(index, [&](std::int32_t member) {
        const Slot& s = slot(member);
        const Leave& free = stage_free(member, stage_of(s.load.unit));
        all = all && s.load.unit < s.due.unit;
        leave = {std::max(leave.first, free.first), std::max(leave.last, free.last)};
    });
    if (!all) return;
    for_each_member(index, [&](std::int32_t member) {
        stage(member, stage_of(slot(member).load.unit)) = {leave.last, 0, 0};
    });
    const Picoseconds signal = cycles(machine_.latency.sm_to_sm_cycles);
    const Leave heard{leave.first + signal, leave.last + signal};  // by the others
    for_each_member(index,
                    [&](std::int32_t member) { issue_loads(now, member == index ? leave : heard, member); });
    for_each_member(
        index, [&](std::int32_t member) { on_their_way(now, member, stage_of(slot(member).load.unit - 1)); });
}

void TileSms::issue_loads(Picoseconds now, Leave leave, std::int32_t index) {
    Slot& s = slot(index);
    SmState& sm = sm_of(s);
    const Cursor unit = s.load;
    const std::size_t ring = stage_of(unit.unit);
    const Picoseconds begin = std::max(leave.first, sm.engine_free);
    const Picoseconds spread = std::max(leave.last - begin, Picoseconds{0});
    const Picoseconds middle = load_issue_ + sm.latency - l2_.way_in() + spread / 2;
    Picoseconds start = begin;
    for (const std::int32_t walk : work_.loads(phase_of(s, unit))) {
        const Box& box = boxes_.box(walk, unit.in_phase);
        const BoxPace& pace = paces_.of(box.shape);
        if (pace.busy == 0) continue;  // wholly outside its tensor
        const Picoseconds reached = start + middle + pace.half_step;
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
    const Picoseconds of_step = start - begin;
    stage(index, ring).spread = spread;
    sm.engine_free = begin + std::max(spread, (unit.length - 1) * of_step) + of_step;
    advance(s, s.load);
}

void TileSms::issue_stores(Picoseconds at, std::int32_t index, const Work::Phase& phase, std::int32_t k) {
    const Slot& s = slot(index);
    const SmState& sm = sm_of(s);
    Picoseconds start = std::max(at, sm.engine_free);
    for (const std::int32_t walk : work_.stores(phase)) {
        const Box& box = boxes_.box(walk, k);
        const BoxPace& pace = paces_.of(box.shape);
        if (pace.busy == 0) continue;
        wheel_.push(start + load_issue_ + sm.latency - l2_.way_in() + pace.half_span,
                    {box.id, sm.gpc, TileEvent::Kind::Write});
        start += pace.busy;
    }
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
