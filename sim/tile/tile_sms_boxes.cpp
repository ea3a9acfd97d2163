// SPDX-License-Identifier: Apache-2.0
// What the SMs send when a box is the unit: the boxes of loads, of a CTA or a cluster, and of stores.
#include <algorithm>
#include <array>
#include <bit>

#include "tile/tile_sms.hpp"

namespace l2lens {

// Loads the steps whose stages are free. A multicast lands in the whole cluster, so its loads leave when the
// stage is free in all of it.
void TileSms::want_loads(Picoseconds now, std::int32_t index) {
    Slot& own = slot(index);
    if (std::has_single_bit(own.cluster.members)) {
        // Put to the L2 in the order in which they will be there, not in that in which they leave.
        if (own.loading || !may_load(own, own.load)) return;
        return load_at(std::max(now, asks(leaves(index, own.load.in_lead), own)), index);
    }
    while (may_load(own, own.due)) {
        stage_free(index, stage_of(own.due)) = leaves(index, own.due.in_lead);
        programs_.advance(own.tiles, own.due);
        programs_.pass_stores(own.tiles, own.loadable, own.due);
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
        const Picoseconds asked = asks(leave, s);
        if (asked > now) return load_at(asked, index);
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
    const Picoseconds asked = asks(leave, s);
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
    programs_.advance(s.tiles, s.load);
    programs_.pass_stores(s.tiles, s.loadable, s.load);
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
void TileSms::for_each_receiver(std::int32_t index, int axis, Body&& body) {
    const int loader = slot(index).cluster.rank;
    for_each_member(index, [&](std::int32_t member) {
        if (receives(slot(member).cluster.rank, loader, axis, kernel_.cluster[1])) body(member);
    });
}

}  // namespace l2lens
