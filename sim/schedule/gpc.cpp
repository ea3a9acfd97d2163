// SPDX-License-Identifier: Apache-2.0
#include "schedule/gpc.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "kernel/residency.hpp"
#include "schedule/epilogue.hpp"
#include "schedule/landing.hpp"
#include "schedule/math_rate.hpp"

namespace l2lens {

Demand& Demand::operator+=(const Demand& other) {
    load_sectors += other.load_sectors;
    store_sectors += other.store_sectors;
    l1_sectors += other.l1_sectors;
    l1_hits += other.l1_hits;
    flops += other.flops;
    return *this;
}

Gpc::Gpc(const Machine& machine, const Work& work, Mode mode, int number, int ctas_per_sm, int lanes,
         std::uint64_t seed)
    : machine_(machine),
      work_(work),
      kernel_(work.kernel()),
      number_(number),
      clocks_(machine, kernel_, seed),
      paces_(kernel_, seed),
      exit_reports_(machine, mode),
      ctas_per_sm_(ctas_per_sm),
      math_rate_(math_rate(machine, kernel_.math)),
      mma_issue_per_flop_(mma_issue_per_flop(machine, kernel_)),
      local_sm_(machine.sms.size(), -1),
      requests_(static_cast<std::size_t>(lanes)),
      random_(seed, 0x6C0000u + static_cast<std::uint64_t>(number)),
      of_releases_(seed, 0x6D0000u + static_cast<std::uint64_t>(number)) {
    for (std::size_t sm = 0; sm < machine.sms.size(); ++sm) {
        if (machine.sms[sm].gpc != number) continue;
        local_sm_[sm] = static_cast<std::int32_t>(sms_.size());
        sms_.push_back(static_cast<int>(sm));
        sm_state_.emplace_back();
        wires_.push_back(sm_wire(machine, static_cast<int>(sm), lanes));
    }
    slots_.resize(sms_.size() * static_cast<std::size_t>(ctas_per_sm));
    epilogue_until_.resize(slots_.size(), 0);
    if (slots_.size() > kMaxCtasOfGpc) {
        throw BadInput(kernel_.name + ": " + std::to_string(slots_.size()) +
                       " CTAs would run at once on GPC " + std::to_string(number) + " of " + machine.name +
                       "; the model follows at most " + std::to_string(kMaxCtasOfGpc) +
                       " (more threads or shared memory per CTA make it fewer)");
    }
    const std::int64_t l1 = l1_bytes(kernel_.resources, ctas_per_sm, machine);
    if (l1 > 0 && work.has_plain_loads()) {
        const double share = static_cast<double>(lanes) / machine.l2.slices_per_partition;
        l1_.assign(sms_.size(), L1Cache(share * static_cast<double>(l1) / kLineBytes));
    }
    cycle_ = 1000.0 / machine.clock.sm_max_ghz;
    for (const SmWire& wire : wires_)  // a hit's, until a box has come
        sampled_.latency.push_back(2 * wire.latency + cycles(machine.latency.load_issue_cycles));
}

void Gpc::start(Picoseconds time, std::int32_t global, std::int32_t tile, std::int32_t next,
                ClusterPlace cluster) {
    const std::int32_t index = local_slot(global);
    Slot& s = slot(index);
    const bool goes_on = s.tiles.next == tile;
    const std::int32_t previous = goes_on ? s.tiles.tile : -1;
    if (!goes_on) {
        s = Slot{};
        s.load.tile = s.math.tile = s.done.tile = s.refill.tile = tile;
        s.loadable = work_.steps(tile);
    }
    s.resident = true;
    s.tiles = {previous, tile, kernel_.epilogue_overlaps ? next : -1};
    s.steps = s.loadable;
    if (s.tiles.next >= 0) s.loadable += work_.steps(s.tiles.next);
    s.cluster = cluster;
    s.pace = paces_.math(tile);
    enter_next_tile(work_, s.tiles, s.load);
    push(time + (goes_on ? 0 : from_ns(kernel_.prologue_ns) + paces_.prologue(tile)), Kind::Begin, index);
    draw_if_due(time, index);
}

void Gpc::announce(Picoseconds time, std::int32_t global, std::int32_t tile) {
    const std::int32_t index = local_slot(global);
    Slot& s = slot(index);
    s.announced = tile;
    s.announced_at = time + from_ns(kernel_.next_tile_ns);
    push(s.announced_at, Kind::Announce, index);
}

// Unless the CTA was through with its tile before and has begun the next one without it.
void Gpc::on_announced(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    if (s.announced < 0 || now < s.announced_at) return;
    s.tiles.next = std::exchange(s.announced, -1);
    s.loadable += work_.steps(s.tiles.next);
    for (ProgramCursor* cursor : {&s.load, &s.math, &s.done, &s.refill})
        enter_next_tile(work_, s.tiles, *cursor);
    release_if_due(now, index);
    load_more(now, index);
}

// All of the tile's loads have left, and what comes next is not known.
void Gpc::draw_if_due(Picoseconds now, std::int32_t index) {
    const Slot& s = slot(index);
    if (!kernel_.epilogue_overlaps || s.load.step < s.loadable || s.tiles.next >= 0) return;
    if (s.cluster.is_first()) draws_.push_back({now, global_slot(index)});
}

void Gpc::receive(const Answer& answer) {
    Action& action = wheel_.add(answer.time);
    action.kind = Kind::Answer;
    action.sectors = answer.sectors;
    action.requesters = answer.requesters;
    action.landing = answer.landing;
    action.late = answer.late;
}

void Gpc::push(Picoseconds time, Kind kind, std::int32_t slot) {
    Action& action = wheel_.add(time);
    action.kind = kind;
    action.slot = slot;
}

void Gpc::run_until(Picoseconds end) {
    wheel_.run_until(end, [this](Picoseconds now, const Action& action) {
        switch (action.kind) {
            case Kind::Answer:
                on_answer(now, action);
                break;
            case Kind::Begin:
                begin(now, action.slot);
                break;
            case Kind::Announce:
                on_announced(now, action.slot);
                break;
            case Kind::Load:
                slot(action.slot).asks_later = false;
                load_more(now, action.slot);
                break;
            case Kind::StageReady:
                try_issue(now, action.slot);
                break;
            case Kind::Release:
                on_release(now, action.slot);
                break;
            case Kind::MathDone:
                on_math_done(now, action.slot);
                break;
            case Kind::Exit: {
                Slot& s = slot(action.slot);
                const Picoseconds finished =
                    std::max(now, epilogue_until_[static_cast<std::size_t>(action.slot)]);
                exits_.push_back({now, finished, global_slot(action.slot), s.tiles.tile});
                s.resident = false;
                break;
            }
        }
    });
}

// The data of one entry: once through the GPC's port, then into each SM that waits for it.
void Gpc::on_answer(Picoseconds now, const Action& answer) {
    const std::size_t first = answer.landing[0] & kLandingMask;
    const Stage& stage = slots_[first / kMaxStages].stages[first % kMaxStages];
    port_free_ = std::max(port_free_, now) +
                 (answer.sectors == kSectorsPerLine ? stage.turn : port_turn(stage.weight, answer.sectors));
    const Picoseconds settled = now + answer.late;
    for (int i = 0; i < answer.requesters; ++i) {
        const std::uint16_t landing = answer.landing[static_cast<std::size_t>(i)];
        const auto index = static_cast<std::int32_t>((landing & kLandingMask) / kMaxStages);
        const int ring = landing % kMaxStages;
        if ((landing & ~kLandingMask) == 0) {
            land(index, ring, answer.sectors, settled);
        } else {
            const int axis = (landing & multicast_bit(0)) != 0 ? 0 : 1;
            for_each_receiver(index, axis,
                              [&](std::int32_t receiver) { land(receiver, ring, answer.sectors, settled); });
        }
    }
}

// One line's data has passed the port and goes into the SM.
void Gpc::land(std::int32_t index, int ring, int sectors, Picoseconds settled) {
    Slot& s = slot(index);
    Stage& stage = s.stages[static_cast<std::size_t>(ring)];
    SmState& sm = sm_state_[static_cast<std::size_t>(sm_of(index))];
    const double part = sectors == kSectorsPerLine ? 1 : static_cast<double>(sectors) / kSectorsPerLine;
    sm.port_free = std::max(sm.port_free, port_free_) + cycles(stage.in_sm * part);
    stage.ready = std::max({stage.ready, sm.port_free, settled});
    if (--stage.missing > 0) return;
    sampled_.took(sm_of(index), stage.ready - stage.sent);
    if (s.waiting && ring_of(s.math.step) == ring) push(stage.ready, Kind::StageReady, index);
}

void Gpc::begin(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    if (s.permitted == 0) {
        s.issued = s.last_done = now;
        s.permitted =
            kernel_.pipeline == Pipeline::WarpSpecialized ? kernel_.stages : std::max(kernel_.stages - 1, 1);
    }
    load_more(now, index);
    try_issue(now, index);
}

// Issues the next step's math when its boxes have landed.
void Gpc::try_issue(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    if (s.math.step >= s.steps) return;
    if (s.math.step >= s.load.step) {  // the cluster's other CTAs are behind
        s.waiting = true;
        return;
    }
    const Stage& loaded = stage_of(s, s.math.step);
    if (loaded.missing > 0) {
        s.waiting = true;
        return;
    }
    const bool waits = kernel_.waits_for_math() && s.math.step > 0;
    if (waits && s.done.step < s.math.step) return;  // on_release() looks again
    // Nothing of it was simulated, its last line is still in the port, the tile before is not stored yet, or
    // the loop is not through with the step before.
    const Picoseconds ready = std::max({loaded.ready, epilogue_until_[static_cast<std::size_t>(index)],
                                        waits ? s.last_done + cycles(kernel_.step_gap_cycles) : 0});
    if (ready > now) {
        s.waiting = false;
        push(ready, Kind::StageReady, index);
        return;
    }
    s.waiting = false;
    const Work::Phase& phase = phase_of(s.math);
    const bool math = phase.has_math();
    s.issued = now + cycles(phase.math_flops * mma_issue_per_flop_);
    s.math_wait.issued(now, s.done.step == s.math.step);
    advance(work_, s.tiles, s.math);
    if (math) {
        start_math(now, sm_of(index));
    } else if (s.done.step + 1 == s.math.step) {
        retire(now, index);
    }
    release_if_due(now, index);
}

// The CTA goes on past step k when k is issued and k-1 has retired: one step computes while the next is
// prepared. With a single stage, or when it waits for its math, k itself must have retired.
void Gpc::release_if_due(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    const bool last = s.to_release + 1 >= s.loadable;
    const bool waits = kernel_.stages == 1 || kernel_.waits_for_math();
    const std::int64_t retired = s.to_release + (waits ? 1 : 0);
    if (last || s.to_release >= s.math.step || s.done.step < retired) return;
    ++s.to_release;
    push(std::max({now, s.issued, s.last_done}) + release(), Kind::Release, index);
}

void Gpc::on_release(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    ++s.released;
    if (kernel_.pipeline == Pipeline::WarpSpecialized) {
        refill(now, index);
    } else {
        permit_load(now, now, index);
    }
    try_issue(now, index);
}

// Frees the stages of steps whose math has retired now that the step after them is issued.
void Gpc::refill(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    const std::int64_t in_flight = kernel_.stages > 1 ? 1 : 0;
    for (; s.refill.step + in_flight < s.released; advance(work_, s.tiles, s.refill)) {
        if (phase_of(s.refill).has_math()) permit_load(now, now + handshake(), index);
    }
}

void Gpc::start_math(Picoseconds now, int sm) {
    SmState& state = sm_state_[static_cast<std::size_t>(sm)];
    if (state.math_busy) return;
    const std::int32_t next =
        next_with_step(slots_, sm * ctas_per_sm_, (sm + 1) * ctas_per_sm_, [this](const Slot& s) {
            return s.resident && s.done.step < s.math.step && phase_of(s.done).has_math();
        });
    if (next < 0) return;
    const Work::Phase& phase = phase_of(slot(next).done);
    const double length = (phase.math_flops / math_rate_ + phase.math_cycles) * slot(next).pace +
                          kernel_.math_jitter_cycles * random_.uniform();
    state.math_busy = true;
    push(now + cycles(length), Kind::MathDone, next);
}

void Gpc::on_math_done(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    const int sm = sm_of(index);
    demand_.flops += phase_of(s.done).math_flops;
    sm_state_[static_cast<std::size_t>(sm)].math_busy = false;
    retire(now, index);
    // A step without math that waited for this one retires with it.
    while (s.done.step < s.math.step && !phase_of(s.done).has_math()) retire(now, index);
    start_math(now, sm);
}

// The step's results are there: its stores leave, its stage is free, and the CTA may be over.
void Gpc::retire(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    const Work::Phase& phase = phase_of(s.done);
    const std::int64_t k = s.done.in_phase;
    const bool epilogue = phase.first_load == phase.first_store;
    const Picoseconds half = from_ns(kernel_.epilogue_ns / 2);
    s.last_done = now;
    const bool passed = stage_of(s, s.done.step).passed;
    advance(work_, s.tiles, s.done);
    s.math_wait.retired();
    Picoseconds stored = now;
    if (phase.first_store < phase.end)
        stored = issue_stores(now, now + (epilogue ? half : 0), index, phase, k);
    if (s.done.step == s.steps) {
        const Picoseconds done =
            end_of_epilogue(kernel_, now, stored, cycles(store_buffer_cycles(kernel_, machine_)),
                            paces_.epilogue(s.tiles.tile));
        epilogue_until_[static_cast<std::size_t>(index)] = kernel_.epilogue_overlaps ? done : 0;
        push(exit_reports_.heard(kernel_.epilogue_overlaps ? now : done, number_, random_), Kind::Exit,
             index);
    }
    if (kernel_.pipeline == Pipeline::WarpSpecialized && !phase.has_math() && !passed)
        permit_load(now, now + release() + cycles(machine_.latency.handshake_cycles), index);
    release_if_due(now, index);
}

// One more stage is free in this CTA, from `free_from` on.
void Gpc::permit_load(Picoseconds now, Picoseconds free_from, std::int32_t index) {
    Slot& s = slot(index);
    stage_of(s, s.permitted).free_from = free_from;
    ++s.permitted;
    load_more(now, index);
}

// Into all stages that are free, when the thread that asks has time for it.
void Gpc::load_more(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    while (wants_more_loads(s) && s.asks_from <= now) want_loads(now, index);
    if (s.asks_later || !wants_more_loads(s)) return;
    s.asks_later = true;
    push(s.asks_from, Kind::Load, index);
}

// The next step's stage is free in this CTA, or will be when that is known. A multicast lands in the whole
// cluster, so its loads leave when the stage is free in all of it.
void Gpc::want_loads(Picoseconds now, std::int32_t index) {
    Slot& own = slot(index);
    Stage& next = stage_of(own, own.load.step + own.loads_due);
    next.free_from = std::max(next.free_from, now);
    ++own.loads_due;
    bool all = true;
    Picoseconds leave = next.free_from;
    std::int32_t last = index;
    for_each_member(index, [&](std::int32_t member) {
        Slot& s = slot(member);
        all = all && s.loads_due > 0;
        if (stage_of(s, s.load.step).free_from <= leave) return;
        leave = stage_of(s, s.load.step).free_from;
        last = member;
    });
    if (!all) return;
    for_each_member(index, [&](std::int32_t member) { open_stage(leave, member); });
    const Picoseconds heard = leave + cycles(machine_.latency.sm_to_sm_cycles);  // by the others
    for_each_member(index, [&](std::int32_t member) { issue_loads(member == last ? leave : heard, member); });
    for_each_member(index, [&](std::int32_t member) { close_stage(leave, member); });
}

void Gpc::open_stage(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    --s.loads_due;
    Stage& stage = stage_of(s, s.load.step);
    stage = Stage{};
    stage.ready = now;
}

void Gpc::close_stage(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    Stage& stage = stage_of(s, s.load.step);
    const auto sm = static_cast<std::size_t>(sm_of(index));
    stage.sent = sm_state_[sm].engine.free();
    s.uncharged += stage.requests;
    if (stage.missing > 0) {
        weigh(stage, s.uncharged / static_cast<float>(stage.missing));
        s.uncharged = 0;
    } else if (stage.in_sample == 0 && stage.requests > 0) {
        // Small boxes, none of whose lines is in the sample.
        stage.ready = std::max(stage.ready, stage.sent + sampled_.latency[sm]);
    } else if (stage.ready > now) {  // the L1 had all of it
        sampled_.took(sm_of(index), stage.ready - stage.sent);
    }
    if (s.waiting && stage.missing == 0 && s.math.step == s.load.step) {
        push(stage.ready, Kind::StageReady, index);
    }
    const std::int32_t tile = s.load.tile;
    advance(work_, s.tiles, s.load);
    pass_stores(now, index);
    if (s.load.tile != tile) s.asks_from += from_ns(kernel_.next_tile_ns);
    draw_if_due(now, index);
}

// A producer has nothing to do with steps that only store: they take no stage.
void Gpc::pass_stores(Picoseconds now, std::int32_t index) {
    if (kernel_.pipeline != Pipeline::WarpSpecialized) return;
    Slot& s = slot(index);
    while (s.load.step < s.loadable && phase_of(s.load).only_stores() && has_room(s)) {
        // The stages that are free by now go to the steps after it.
        for (std::int64_t step = s.permitted; step > s.load.step; --step)
            stage_of(s, step).free_from = stage_of(s, step - 1).free_from;
        ++s.permitted;
        Stage& none = stage_of(s, s.load.step);
        none = Stage{};
        none.passed = true;
        none.ready = now;
        advance(work_, s.tiles, s.load);
    }
}

// What is the same for all lines of a stage, worked out once.
void Gpc::weigh(Stage& stage, float weight) const {
    stage.weight = weight;
    stage.turn = port_turn(weight, kSectorsPerLine);
    stage.in_sm = static_cast<double>(weight) / machine_.bandwidth.sm_lines_per_cycle;
}

// Nothing where each slice's way into the GPC is what limits (bandwidth.gpc_way).
Picoseconds Gpc::port_turn(float weight, int sectors) const {
    if (machine_.bandwidth.gpc_way_bytes_per_ns > 0) return 0;
    const double bytes = sectors * kSectorBytes + machine_.bandwidth.answer_overhead_bytes;
    return from_ns(static_cast<double>(weight) * bytes / machine_.bandwidth.gpc_bytes_per_ns);
}

}  // namespace l2lens
