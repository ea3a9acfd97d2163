// SPDX-License-Identifier: Apache-2.0
#include "tile/tile_sms.hpp"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

#include "base/error.hpp"
#include "schedule/math_rate.hpp"
#include "schedule/tensor_cores.hpp"
#include "schedule/wire.hpp"

namespace l2lens {

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
      stages_(kernel_.stages),
      stages_are_power_of_two_(std::has_single_bit(static_cast<unsigned>(kernel_.stages))),
      half_epilogue_(from_ns(kernel_.epilogue_ns / 2)),
      cycles_per_flop_(1.0 / math_rate(machine, kernel_.math)),
      random_(seed, 0x6C0000u) {
    std::vector<std::int32_t> last_of_gpc(static_cast<std::size_t>(machine.gpcs), -1);
    for (std::size_t id = 0; id < machine.sms.size(); ++id) {
        const auto gpc = static_cast<std::size_t>(machine.sms[id].gpc);
        SmState sm;
        sm.latency = sm_wire(machine, static_cast<int>(id), 0).latency;
        sm.cpc = 0;  // one port for the whole GPC
        sm.gpc = static_cast<std::uint32_t>(gpc);
        sm.previous_in_gpc = last_of_gpc[gpc];
        if (sm.previous_in_gpc >= 0)
            sms_[static_cast<std::size_t>(sm.previous_in_gpc)].next_in_gpc = static_cast<std::int32_t>(id);
        last_of_gpc[gpc] = static_cast<std::int32_t>(id);
        sms_.push_back(sm);
    }
    slots_.resize(sms_.size() * static_cast<std::size_t>(ctas_per_sm));
    if (slots_.size() > Landing::kMostSlots) {
        throw BadInput(kernel_.name + ": " + std::to_string(slots_.size()) + " CTAs would run at once on " +
                       machine.name + "; the tile engine follows at most " +
                       std::to_string(Landing::kMostSlots));
    }
    ring_.resize(slots_.size() * static_cast<std::size_t>(stages_));
    stage_free_.resize(ring_.size());
    for (std::size_t i = 0; i < slots_.size(); ++i) slots_[i].sm = static_cast<std::int32_t>(i) / ctas_per_sm;
    set_cycle(1000.0 / machine.clock.sm_max_ghz);
}

void TileSms::set_cycle(double picoseconds) {
    cycle_ = picoseconds;
    release_ = cycles(kReleaseCycles);
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
    s.steps = static_cast<std::int32_t>(work_.steps(start.tile));
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

void TileSms::begin(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    s.issued = s.last_done = s.permit = now;
    s.permitted = true;
    const int ahead =
        kernel_.pipeline == Pipeline::WarpSpecialized ? kernel_.stages : std::max(kernel_.stages - 1, 1);
    for (int i = 0; i < ahead && i < s.steps; ++i) want_loads(now, index);
    run(index);
}

// A box's data, its last line here at `now`: once through the port of each CPC that waits for it, then into
// each SM. Its lines have come one after the other.
void TileSms::on_answer(Picoseconds now, const TileL2::Entry& entry) {
    const BoxPace& pace = paces_.of(boxes_.at(entry.box).shape);
    const auto pass = [&](std::int32_t index, std::uint32_t stage) {
        Slot& s = slot(index);
        SmState& sm = sm_of(s);
        const Picoseconds through = l2_.passes(now, sm.gpc, sm.cpc);
        const Picoseconds landed =
            sm.port.take_stream(through, 2 * pace.half_span, pace.in_sm, pace.last_in_sm);
        Stage& there = this->stage(index, stage);
        there.ready = std::max(there.ready, landed);
        if (--there.missing == 0) run(index);
    };
    for (std::size_t i = 0; i < entry.requesters; ++i) {
        const Landing landing = entry.landing[i];
        if (landing.axis() == Landing::kNoAxis) {
            pass(landing.slot(), landing.stage());
        } else {
            for_each_receiver(landing.slot(), landing.axis(),
                              [&](std::int32_t receiver) { pass(receiver, landing.stage()); });
        }
    }
}

// Issues the steps whose boxes have landed.
void TileSms::run(std::int32_t index) {
    Slot& s = slot(index);
    while (s.permitted && s.math.step < s.steps && s.math.step < s.load.step) {
        const Stage& next = stage(index, stage_of(s.math.step));
        if (next.missing > 0) return;
        const Picoseconds at = std::max({next.ready, s.permit, s.epilogue_until});
        s.permitted = false;
        if (ctas_per_sm_ > 1) {
            wheel_.push(at, {static_cast<std::uint32_t>(index), 0, TileEvent::Kind::Issue});
            return;
        }
        issue_alone(at, index);
    }
}

// The next step of a CTA that has its SM to itself: all of it is known.
void TileSms::issue_alone(Picoseconds at, std::int32_t index) {
    Slot& s = slot(index);
    const Work::Phase& phase = phase_of(s, s.math);
    const Picoseconds begun = std::max(at, s.last_done);
    const Picoseconds done = has_math(phase) ? begun + cycles(math_cycles(phase)) : begun;
    const bool last = s.math.step + 1 >= s.steps;
    s.issued = at;
    advance(s, s.math);
    retire(done, index);
    if (!last) permit(stages_ == 1 ? done : begun, index);
}

// The CTA goes on past step k when k is issued and k-1 has retired: one step computes while the next is
// prepared. With a single stage, k itself must have retired.
void TileSms::release_if_due(std::int32_t index) {
    Slot& s = slot(index);
    const bool last = s.to_release + 1 >= s.steps;
    const std::int32_t retired = s.to_release + (stages_ == 1 ? 1 : 0);
    if (last || s.to_release >= s.math.step || s.done.step < retired) return;
    ++s.to_release;
    permit(std::max(s.issued, s.last_done), index);
    run(index);
}

void TileSms::permit(Picoseconds at, std::int32_t index) {
    Slot& s = slot(index);
    s.permit = at + release_;
    s.permitted = true;
    if (kernel_.pipeline == Pipeline::Multistage && wants_more_loads(s)) want_loads(s.permit, index);
}

void TileSms::on_issue(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    const bool math = has_math(phase_of(s, s.math));
    s.issued = now;
    advance(s, s.math);
    if (math) {
        start_math(now, s.sm);
    } else if (s.done.step + 1 == s.math.step) {
        retire(now, index);
    }
    release_if_due(index);
}

void TileSms::start_math(Picoseconds now, std::int32_t sm) {
    SmState& state = sms_[static_cast<std::size_t>(sm)];
    if (state.math_busy) return;
    const std::int32_t oldest =
        oldest_with_step(slots_, sm * ctas_per_sm_, (sm + 1) * ctas_per_sm_, [](const Slot& s) {
            return s.tile >= 0 && s.done.step < s.math.step && has_math(phase_of(s, s.done));
        });
    if (oldest < 0) return;
    const double length = math_cycles(phase_of(slot(oldest), slot(oldest).done));
    state.math_busy = true;
    wheel_.push(now + cycles(length), {static_cast<std::uint32_t>(oldest), 0, TileEvent::Kind::MathDone});
}

void TileSms::on_math_done(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    sm_of(s).math_busy = false;
    retire(now, index);
    // A step without math that waited for this one retires with it.
    while (s.done.step < s.math.step && !has_math(phase_of(s, s.done))) retire(now, index);
    release_if_due(index);
    start_math(now, s.sm);
}

// The step's results are there at `at`: its stores leave, its stage is free, and the CTA may be over.
void TileSms::retire(Picoseconds at, std::int32_t index) {
    Slot& s = slot(index);
    const Work::Phase& phase = phase_of(s, s.done);
    const std::int32_t k = s.done.in_phase;
    const bool epilogue = phase.first_load == phase.first_store;
    s.last_done = at;
    demand_.flops += phase.math_flops;
    advance(s, s.done);
    if (phase.first_store < phase.end) issue_stores(at + (epilogue ? half_epilogue_ : 0), index, phase, k);
    if (s.done.step == s.steps) {
        const double jitter = machine_.launch.exit_jitter_ns * random_.uniform();
        const Picoseconds finished = at + 2 * half_epilogue_;
        s.epilogue_until = kernel_.epilogue_overlaps ? finished : 0;
        wheel_.push((kernel_.epilogue_overlaps ? at : finished) + from_ns(jitter),
                    {static_cast<std::uint32_t>(index), 0, TileEvent::Kind::Exit});
        return;
    }
    if (kernel_.pipeline == Pipeline::WarpSpecialized && wants_more_loads(s))
        want_loads(at + release_, index);
}

// The next step's stage is free in this CTA from `at` on. A multicast lands in the whole cluster, so its
// loads leave when the stage is free in all of it.
void TileSms::want_loads(Picoseconds at, std::int32_t index) {
    Slot& own = slot(index);
    if (std::has_single_bit(own.cluster.members)) {
        ++own.loads_due;
        stage(index, stage_of(own.load.step)) = {at, 0};
        issue_loads(at, index);
        return;
    }
    stage_free(index, stage_of(own.load.step + own.loads_due)) = at;
    ++own.loads_due;
    bool all = true;
    for_each_member(index, [&](std::int32_t member) {
        const Slot& s = slot(member);
        all = all && s.loads_due > 0;
        at = std::max(at, stage_free(member, stage_of(s.load.step)));
    });
    if (!all) return;
    for_each_member(index, [&](std::int32_t member) {
        stage(member, stage_of(slot(member).load.step)) = {at, 0};
    });
    for_each_member(index, [&](std::int32_t member) { issue_loads(at, member); });
    for_each_member(index, [&](std::int32_t member) {
        if (member != index) run(member);
    });
}

void TileSms::issue_loads(Picoseconds at, std::int32_t index) {
    Slot& s = slot(index);
    SmState& sm = sm_of(s);
    const std::size_t ring = stage_of(s.load.step);
    --s.loads_due;
    Picoseconds start = std::max(at, sm.engine_free);
    const Picoseconds first_line = load_issue_ + sm.latency;
    for (const std::int32_t walk : work_.loads(phase_of(s, s.load))) {
        const std::uint32_t id = boxes_.box(walk, s.load.in_phase);
        const BoxPace& pace = paces_.of(boxes_.at(id).shape);
        if (pace.busy == 0) continue;  // wholly outside its tensor
        const BoxTable::Cast cast = boxes_.cast(walk);
        std::uint32_t axis = Landing::kNoAxis;
        std::uint32_t cpcs = 1u << sm.cpc;
        if (cast.receivers > 1) {
            axis = cast.axis;
            for_each_receiver(index, axis, [&](std::int32_t receiver) {
                ++stage(receiver, ring).missing;
                cpcs |= 1u << sm_of(slot(receiver)).cpc;
            });
        } else {
            ++stage(index, ring).missing;
        }
        l2_.prefetch(id, sm.gpc);
        wheel_.push(start + first_line + pace.half_span,
                    {id, Landing::of(index, ring, axis, cpcs).code, TileEvent::Kind::Read});
        start += pace.busy;
    }
    sm.engine_free = start;
    advance(s, s.load);
}

void TileSms::issue_stores(Picoseconds at, std::int32_t index, const Work::Phase& phase, std::int32_t k) {
    const Slot& s = slot(index);
    const SmState& sm = sm_of(s);
    Picoseconds start = std::max(at, sm.engine_free);
    for (const std::int32_t walk : work_.stores(phase)) {
        const std::uint32_t id = boxes_.box(walk, k);
        const BoxPace& pace = paces_.of(boxes_.at(id).shape);
        if (pace.busy == 0) continue;
        wheel_.push(start + load_issue_ + sm.latency + pace.half_span, {id, sm.gpc, TileEvent::Kind::Write});
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
