// SPDX-License-Identifier: Apache-2.0
// What a GPC's SMs send: the boxes of loads and stores, line by line, onto the wire to each lane.
#include <algorithm>

#include "schedule/gpc.hpp"
#include "schedule/landing.hpp"
#include "schedule/producer_looks.hpp"

namespace l2lens {
namespace {

// From a plain load to data of the L1, and from a miss there to data of the L2 beyond the wire both ways:
// what decides when a sector that is on its way can be used (Hopper: 33 and about 270 cycles in all; Luo et
// al., arXiv 2402.13499).
constexpr double kL1HitCycles = 33;

}  // namespace

void Gpc::issue_loads(Picoseconds now, std::int32_t index) {
    Slot& s = slot(index);
    const auto ring = ring_of(s.load.step);
    const int sm = sm_of(index);
    LoadEngine& engine = sm_state_[static_cast<std::size_t>(sm)].engine;
    const Picoseconds asked = std::max(asks_at(now, s.asks_from, poll()),
                                       recorded_ != nullptr ? recorded_->earliest(s.load) : Picoseconds{0});
    s.asks_from = asked + cycles(kernel_.load_interval_cycles);
    Picoseconds start = engine.begin_load(asked);
    for (std::int32_t walk : work_.loads(phase_of(s.load))) {
        const BoxWalk& box = work_.walk(walk);
        const WalkLines& lines = work_.lines(walk);
        const auto k = static_cast<std::size_t>(s.load.in_phase);
        Request prototype;
        prototype.landing = static_cast<std::uint16_t>(index * kMaxStages + ring);
        prototype.fetch = box.path == Path::Tma ? Fetch::Tensor : Fetch::Plain;
        prototype.priority = priority_of(box.hint);
        if (box.multicast > 1) {
            prototype.landing |= multicast_bit(box.multicast_axis);
            prototype.receivers = static_cast<std::uint8_t>(box.multicast);
        }
        const std::int32_t simulated = send(start, sm, walk, s.load.in_phase, prototype);
        // What the L1 answered for the simulated lines it answered for as many of the others.
        const auto in_sample = static_cast<std::int32_t>(lines.step(s.load.in_phase).size());
        const bool plain = !l1_.empty() && box.path == Path::Load;
        if (plain) sampled_.met(in_sample, simulated);
        const double passed = in_sample > 0 ? static_cast<double>(simulated) / in_sample : sampled_.passed();
        const auto left = static_cast<float>(plain ? passed * lines.requests[k] : lines.requests[k]);
        const auto expect = [&](std::int32_t receiver) {
            Stage& stage = slot(receiver).stages[static_cast<std::size_t>(ring)];
            stage.missing += simulated;
            stage.in_sample += in_sample;
            stage.requests += left;
            stage.ready = std::max(stage.ready, l1_ready_);
        };
        if (box.multicast > 1) {
            for_each_receiver(index, box.multicast_axis, expect);
        } else {
            expect(index);
        }
        demand_.load_sectors += lines.sectors[k];
    }
    engine.end_load(start);
}

// Those that leave from `at` on; when the last of them has left the SM.
Picoseconds Gpc::issue_stores(Picoseconds now, Picoseconds at, std::int32_t index, const Work::Phase& phase,
                              std::int64_t k) {
    const int sm = sm_of(index);
    LoadEngine& engine = sm_state_[static_cast<std::size_t>(sm)].engine;
    const Picoseconds begin = engine.begin_store(at);
    Picoseconds start = begin;
    bool boxes = false;
    for (std::int32_t walk : work_.stores(phase)) {
        const WalkLines& lines = work_.lines(walk);
        Request prototype;
        prototype.operation = work_.walk(walk).reduce ? Operation::Add : Operation::Write;
        prototype.priority = priority_of(work_.walk(walk).hint);
        send(start, sm, walk, k, prototype);
        demand_.store_sectors += lines.sectors[static_cast<std::size_t>(k)];
        boxes = boxes || work_.walk(walk).path == Path::Tma;
    }
    engine.end_store(now, begin, start, boxes);
    return start;
}

// The sectors of `line` that go on to the L2; what the L1 has is there for its CTA after l1_ready_.
SectorMask Gpc::take_from_l1(const PlacedLine& line, L1Cache& l1, const BoxWalk& box, Request& request) {
    const Picoseconds there_and_back =
        from_ns(machine_.latency.slice_to_sm_ns + machine_.latency.hit_l2_cycles / machine_.clock.l2_ghz);
    const L1Cache::Found found =
        l1.read(line.line, line.sectors, request.time + there_and_back, box.hint != CacheHint::NoAllocate);
    demand_.l1_sectors += static_cast<std::uint64_t>(__builtin_popcount(line.sectors));
    demand_.l1_hits += static_cast<std::uint64_t>(__builtin_popcount(found.sectors));
    if (found.sectors != 0) l1_ready_ = std::max(l1_ready_, found.ready);
    return static_cast<SectorMask>(line.sectors & ~found.sectors);
}

// Puts one box's simulated lines on the wire, a line per issue slot of the load engine; moves `start` past
// the box. How many requests that were: plain loads may find their lines in the L1.
std::int32_t Gpc::send(Picoseconds& start, int sm, std::int32_t id, std::int64_t k, Request prototype) {
    const WalkLines& walk = work_.lines(id);
    const BoxTiming timing(machine_, wires_[static_cast<std::size_t>(sm)], cycle_, start,
                           prototype.operation);
    const auto lines = walk.step(k);
    const BoxWalk& box = work_.walk(id);
    L1Cache* const l1 = !l1_.empty() && box.path == Path::Load && prototype.operation == Operation::Read
                            ? &l1_[static_cast<std::size_t>(sm)]
                            : nullptr;
    l1_ready_ = l1 != nullptr ? start + cycles(kL1HitCycles) : 0;
    // Slices that write back what was written and no more take what reads such a sector later to find all.
    const bool masked = machine_.l2.byte_masks && prototype.operation == Operation::Write;
    std::int32_t sent = 0;
    prototype.gpc = static_cast<std::uint8_t>(number_);
    const auto global_sm = static_cast<std::size_t>(sms_[static_cast<std::size_t>(sm)]);
    prototype.sm = static_cast<std::uint8_t>(sm);
    for (const PlacedLine& line : lines) {
        prototype.time = timing.arrival(line.position, line.lane);
        prototype.line = line.line;
        prototype.place = line.place;
        prototype.sectors = line.sectors;
        prototype.partial = masked ? SectorMask{0} : line.partial;
        if (l1 != nullptr) prototype.sectors = take_from_l1(line, *l1, box, prototype);
        if (prototype.sectors == 0) continue;
        requests_[line.lane].push_back(prototype);
        ++sent;
    }
    if (observed_) {
        issued_.push_back({start, id, static_cast<std::uint32_t>(k), static_cast<std::uint16_t>(global_sm),
                           prototype.receivers});
    }
    start += timing.busy(walk.requests[static_cast<std::size_t>(k)]);
    return sent;
}

}  // namespace l2lens
