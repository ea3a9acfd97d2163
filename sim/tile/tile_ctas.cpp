// SPDX-License-Identifier: Apache-2.0
#include "tile/tile_ctas.hpp"

#include <algorithm>

#include "schedule/epilogue.hpp"
#include "schedule/math_rate.hpp"

namespace l2lens {
namespace {

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

std::size_t boxes_on_their_way(const Work& work) {
    return static_cast<std::size_t>(work.kernel().stages) * most_boxes_of_a_step(work);
}

TileCtas::TileCtas(const Machine& machine, const Work& work, const BoxTable& boxes, const BoxPaces& paces,
                   Mode mode, int ctas_per_sm, std::uint64_t seed, TileWheel& wheel, TileL2& l2)
    : machine_(machine),
      work_(work),
      kernel_(work.kernel()),
      boxes_(boxes),
      paces_(paces),
      ctas_per_sm_(ctas_per_sm),
      loads_on_(kernel_.epilogue_overlaps && kernel_.pipeline == Pipeline::WarpSpecialized),
      wheel_(wheel),
      l2_(l2),
      most_boxes_(most_boxes_of_a_step(work)),
      half_epilogue_(from_ns(kernel_.epilogue_ns / 2)),
      cycles_per_flop_(1.0 / math_rate(machine, kernel_.math)),
      mma_issue_per_flop_(mma_issue_per_flop(machine, kernel_)),
      clocks_(machine, kernel_, seed),
      tile_paces_(kernel_, seed),
      exit_reports_(machine, mode),
      random_(seed, 0x6C0000u) {}

void TileCtas::count_demand(std::span<const Work::Phase> phases) {
    for (const Work::Phase& phase : phases) {
        for (const std::int32_t walk : work_.loads(phase)) {
            const BoxTable::Totals totals = boxes_.totals(walk);
            const auto receivers = std::uint64_t{boxes_.cast(walk).receivers};
            events_[Event::CoalescableRequests] += totals.requests;
            events_[Event::CoalescableSectors] += totals.sectors;
            events_[Event::DeliveredSectors] += totals.sectors * receivers;
            events_[Event::MulticastSectors] += totals.sectors * (receivers - 1);
        }
    }
}

Picoseconds TileCtas::end(Picoseconds at, Picoseconds stored, std::int32_t slot, std::int32_t tile) {
    const Picoseconds buffered = cycles(store_buffer_cycles(kernel_, machine_));
    const Picoseconds finished = end_of_epilogue(kernel_, at, stored, buffered, tile_paces_.epilogue(tile));
    const auto sm = static_cast<std::size_t>(slot / ctas_per_sm_);
    wheel_.push(exit_reports_.heard(kernel_.epilogue_overlaps ? at : finished, machine_.sms[sm].gpc, random_),
                {static_cast<std::uint32_t>(slot), 0, TileEvent::Kind::Exit});
    return kernel_.epilogue_overlaps ? finished : 0;
}

}  // namespace l2lens
