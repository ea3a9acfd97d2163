// SPDX-License-Identifier: Apache-2.0
#include "tile/lone_ctas.hpp"

#include <bit>
#include <utility>

#include "schedule/wire.hpp"

namespace l2lens {

LoneCtas::LoneCtas(const Machine& machine, const Work& work, const BoxTable& boxes, const BoxPaces& paces,
                   Mode mode, int ctas_per_sm, std::uint64_t seed, TileWheel& wheel, TileL2& l2)
    : TileCtas(machine, work, boxes, paces, mode, ctas_per_sm, seed, wheel, l2),
      units_(boxes.units()),
      lead_(static_cast<std::int32_t>(load_lead(kernel_))),
      stages_(static_cast<std::int32_t>(std::bit_ceil(static_cast<unsigned>(kernel_.stages)))),
      sms_(machine.sms.size()),
      ring_(sms_.size() * static_cast<std::size_t>(stages_)),
      coming_(ring_.size() * most_boxes_),
      leaves_(sms_.size() * static_cast<std::size_t>(lead_)),
      next_boxes_(sms_.size() * most_boxes_) {
    for (std::size_t id = 0; id < sms_.size(); ++id) {
        Sm& sm = sms_[id];
        sm.index = static_cast<std::int32_t>(id);
        sm.ring = ring_.data() + id * static_cast<std::size_t>(stages_);
        sm.coming = coming_.data() + id * static_cast<std::size_t>(stages_) * most_boxes_;
        sm.leaves = leaves_.data() + id * static_cast<std::size_t>(lead_);
        sm.next_boxes = next_boxes_.data() + id * most_boxes_;
        sm.latency = sm_wire(machine, static_cast<int>(id), 0).latency;
        sm.own_way = sm.latency - from_ns(machine.latency.sm_to_slice_ns);
        sm.gpc = static_cast<std::uint32_t>(machine.sms[id].gpc);
    }
    set_cycle(1000.0 / machine.clock.sm_max_ghz);
}

void LoneCtas::set_cycle(double picoseconds) {
    cycle_ = picoseconds;
    release_ = cycles(machine_.latency.release_cycles + kernel_.release_cycles);
    step_gap_ = cycles(kernel_.step_gap_cycles);
    const Picoseconds issue = cycles(machine_.latency.load_issue_cycles);
    for (Sm& sm : sms_) sm.way = issue + sm.latency - l2_.way_in();
}

void LoneCtas::start(const Start& start) {
    Sm& sm = sm_at(start.slot);
    sm.tile = start.tile;
    sm.phases = work_.program(start.tile);
    sm.pace = pace_of(sm.tile, sm.gpc, start.time);
    sm.steps = static_cast<std::int32_t>(work_.steps(start.tile));
    sm.freed = 0;
    sm.scheduled = false;
    Cursor first;
    first.phase = sm.phases.data();
    enter_phase(sm, first);
    first.length = length_at(first);
    sm.load = sm.math = first;
    find_boxes(sm);
    count_demand(sm.phases);
    const Picoseconds to_loads = sm.epilogue_until > 0 ? 0 : prologue(start.tile);
    wheel_.push(start.time + to_loads + sm.own_way,
                {static_cast<std::uint32_t>(start.slot), 0, TileEvent::Kind::Begin});
}

Exit LoneCtas::leave(Picoseconds now, std::int32_t index) {
    Sm& sm = sm_at(index);
    return {now, std::max(now, sm.epilogue_until), index, std::exchange(sm.tile, -1)};
}

// To the first unit of this phase, or of the next one that has any.
void LoneCtas::enter_phase(const Sm& sm, Cursor& cursor) const {
    const Work::Phase* const end = sm.phases.data() + sm.phases.size();
    while (cursor.phase < end && cursor.phase->count <= 0) ++cursor.phase;
    cursor.in_phase = 0;
    cursor.left = cursor.phase < end ? static_cast<std::int32_t>(cursor.phase->count) : 0;
}

// Those of the first unit of a phase to load; the others follow them.
void LoneCtas::find_boxes(Sm& sm) const {
    if (sm.load.step >= sm.steps) return;
    const Box** next = sm.next_boxes;
    for (const std::int32_t walk : work_.loads(*sm.load.phase)) *next++ = &boxes_.box(walk, 0);
}

void LoneCtas::begin(Picoseconds now, Sm& sm) {
    const Picoseconds began = now - sm.own_way;
    sm.free_from = std::max(began, sm.epilogue_until);
    std::fill_n(sm.leaves, lead_, began);
    put_loads(now, sm);
    schedule(now, sm);
}

// The units whose stages are free.
void LoneCtas::put_loads(Picoseconds now, Sm& sm) {
    while (may_load(sm)) put_unit(now, sm);
}

void LoneCtas::put_unit(Picoseconds now, Sm& sm) {
    const Cursor unit = sm.load;
    std::int32_t last_in_lead = unit.in_lead + std::min(unit.length, lead_) - 1;
    if (last_in_lead >= lead_) last_in_lead -= lead_;
    const Picoseconds beyond = beyond_lead(sm, unit);
    const Picoseconds leaves_last = sm.leaves[last_in_lead] + beyond;
    const Picoseconds begin = sm.engine.begin_load(sm.leaves[unit.in_lead]);
    const Picoseconds spread = std::max(leaves_last - begin, Picoseconds{0});
    const Picoseconds middle = sm.way + spread / 2;
    const std::size_t number = stage_of(unit.unit);
    TileL2::Coming* const first = sm.coming + number * most_boxes_;
    TileL2::Coming* end = first;
    Picoseconds start = begin, ready = leaves_last;
    const Box** const next_end = sm.next_boxes + (unit.phase->first_store - unit.phase->first_load);
    for (const Box** next = sm.next_boxes; next < next_end; ++next) {
        const Box& box = *(*next)++;
        const BoxPace& pace = paces_.of(box.shape);
        if (pace.busy == 0) continue;  // wholly outside its tensor
        const Picoseconds reached = start + middle + pace.half_step;
        start += pace.busy;
        const TileL2::Coming comes = l2_.read(now, reached, box, sm.gpc, false);
        ready = std::max(ready, comes.at + pace.last_in_sm);
        TileL2::Coming* place = end++;
        for (; place > first && place[-1].at > comes.at; --place) place[0] = place[-1];
        *place = comes;
    }
    sm.ring[number] = {leaves_last, ready, spread, beyond, static_cast<std::int32_t>(end - first)};
    const Picoseconds of_step = start - begin;
    sm.engine.end_load(begin + std::max(spread, (unit.length - 1) * of_step) + of_step);
    advance(sm, sm.load);
    if (sm.load.in_phase == 0) find_boxes(sm);
}

// Puts the next unit's issue on the wheel, when its loads are on their way.
void LoneCtas::schedule(Picoseconds now, Sm& sm) {
    if (sm.scheduled || sm.math.unit >= sm.load.unit) return;
    const Stage& next = sm.ring[stage_of(sm.math.unit)];
    sm.scheduled = true;
    const Picoseconds at = std::max(next.ready - next.spread, sm.free_from);
    push_issue(std::max(at + next.beyond + sm.own_way, now), sm);
}

// The data of a stage's boxes, which have come one line after the other: through the port of the GPC,
// then into the SM. Boxes that come together wait as long as the last one.
void LoneCtas::pass_ports(Sm& sm, std::size_t number) {
    Stage& stage = sm.ring[number];
    if (stage.boxes == 0) return;
    TileL2::Coming* const first = sm.coming + number * most_boxes_;
    TileL2::Coming* const end = first + std::exchange(stage.boxes, 0);
    Picoseconds last = 0;
    for (TileL2::Coming* box = first; box < end; ++box) last = std::max(last, box->at = l2_.settled(*box));
    const Picoseconds wait = l2_.waits(last, sm.gpc);
    Picoseconds ready = stage.left;
    for (const TileL2::Coming* box = first; box < end; ++box) {
        const BoxPace& pace = paces_.of(box->shape);
        ready = std::max(ready, sm.port.take_stream(box->at + wait, 2 * pace.half_span + box->spread,
                                                    pace.in_sm, pace.last_in_sm));
    }
    stage.left = stage.ready = ready;
}

// The math of a unit's steps and the gaps between them, and the math of its last one alone.
LoneCtas::Math LoneCtas::math_of(const Sm& sm, const Cursor& unit) {
    const Work::Phase& phase = *unit.phase;
    if (!phase.has_math()) return {};
    const double mean = math_cycles(phase, sm.pace);
    demand_.flops += phase.math_flops * unit.length;
    Math math;
    if (kernel_.math_jitter_cycles <= 0) {
        math.last = cycles(mean);
        math.all = unit.length * math.last + (unit.length - 1) * step_gap_;
        return math;
    }
    for (std::int32_t i = 0; i < unit.length; ++i)
        math.all += math.last = cycles(mean + kernel_.math_jitter_cycles * random_.uniform());
    math.all += (unit.length - 1) * step_gap_;
    return math;
}

// A unit's first step begins now, its last one not before its boxes are there: all of it is known. What it
// calls is small and called here alone, and most of the engine's time.
[[gnu::flatten]] void LoneCtas::on_issue(Picoseconds now, Sm& sm) {
    const std::size_t number = stage_of(sm.math.unit);
    pass_ports(sm, number);
    const Stage& own = sm.ring[number];
    const Cursor unit = sm.math;
    const Picoseconds later = own.beyond + sm.own_way;
    const Picoseconds issued = now - later;
    if (own.ready - own.spread > issued) return push_issue(own.ready - own.spread + later, sm);
    sm.scheduled = false;
    const Math math = math_of(sm, unit);
    const Picoseconds ready = own.ready + held_up(sm, unit, issued);
    const Picoseconds done = std::max(issued + math.all, ready + math.last);
    const Picoseconds stored = issue_stores(done, sm, unit);
    advance(sm, sm.math);
    if (sm.math.step >= sm.steps) {
        sm.epilogue_until = end(done, stored, sm.index, sm.tile);
        return;
    }
    // Also of steps that wait for the math before, which lines do not: closer to those over gemm.csv.
    const Picoseconds release =
        release_ + release_jitter() + (kernel_.waits_for_math() ? math.last : handing_over(*unit.phase));
    set_free(sm, unit, issued + release, done - math.last + release);
    sm.free_from = kernel_.waits_for_math() ? done + step_gap_ : std::max(issued + release, done);
    put_loads(now, sm);
    schedule(now, sm);
}

// The steps of a unit let those load that come `lead_` later.
void LoneCtas::set_free(Sm& sm, const Cursor& unit, Picoseconds first, Picoseconds last) {
    sm.freed = unit.step + unit.length;
    sm.leaves[unit.in_lead] = first;
    if (unit.length == 1) return;
    const Picoseconds step = (last - first) / (unit.length - 1);
    // Of a unit of more steps than the lead has the last ones count: they take the places of the others.
    const std::int32_t begin = std::max(unit.length - lead_, 1);
    std::int32_t place = (unit.in_lead + begin - 1) % lead_;
    for (std::int32_t i = begin; i < unit.length; ++i) {
        if (++place >= lead_) place = 0;
        sm.leaves[place] = first + i * step;
    }
    sm.leaves[place] = last;
}

// A unit's results are there at `at`; when the last of them has left the SM.
Picoseconds LoneCtas::issue_stores(Picoseconds at, Sm& sm, const Cursor& unit) {
    const Work::Phase& phase = *unit.phase;
    if (phase.first_store == phase.end) return at;
    const bool epilogue = phase.first_load == phase.first_store;
    const Picoseconds begin = sm.engine.begin_store(at + (epilogue ? half_epilogue_ : 0));
    Picoseconds start = begin;
    bool boxes = false;
    for (const std::int32_t walk : work_.stores(phase)) {
        const Box& box = boxes_.box(walk, unit.in_phase);
        const BoxPace& pace = paces_.of(box.shape);
        if (pace.busy == 0) continue;
        wheel_.push(start + sm.way + pace.half_span, {box.id, sm.gpc, TileEvent::Kind::Write});
        start += pace.busy;
        boxes = boxes || holds_loads(walk);
    }
    sm.engine.end_store(at, begin, start, boxes);
    return start;
}

}  // namespace l2lens
