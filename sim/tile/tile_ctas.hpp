// SPDX-License-Identifier: Apache-2.0
// What both loops over the CTAs of a launch have, CTAs that are alone (lone_ctas.hpp) and all others
// (tile_sms.hpp): whom they speak to, the SMs' clock, what a CTA asks for in all and how it ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/random.hpp"
#include "machine/machine.hpp"
#include "schedule/dispatcher.hpp"
#include "schedule/exit_reports.hpp"
#include "schedule/gpc.hpp"
#include "schedule/pace.hpp"
#include "schedule/work.hpp"

#include "tile/box_pace.hpp"
#include "tile/box_table.hpp"
#include "tile/event.hpp"
#include "tile/tile_l2.hpp"

namespace l2lens {

// Boxes that a CTA has under way at once, at most.
std::size_t boxes_on_their_way(const Work& work);

class TileCtas {
public:
    const Demand& demand() const { return demand_; }
    // What the SMs asked for, as events; the L2 counts the rest.
    const Events& events() const { return events_; }

protected:
    TileCtas(const Machine& machine, const Work& work, const BoxTable& boxes, const BoxPaces& paces,
             Mode mode, int ctas_per_sm, std::uint64_t seed, TileWheel& wheel, TileL2& l2);

    // Counts what a CTA will ask for.
    void count_demand(std::span<const Work::Phase> phases);
    // The results of a CTA's last step are there at `at`, and have left its SM at `stored`: puts its exit on
    // the wheel, and says until when its epilogue keeps the next tile there from its math.
    Picoseconds end(Picoseconds at, Picoseconds stored, std::int32_t slot, std::int32_t tile);

    // For how long a warpgroup hands a step's MMAs over.
    Picoseconds handing_over(const Work::Phase& phase) const {
        return cycles(phase.math_flops * mma_issue_per_flop_);
    }
    // From a CTA's start to its first loads, unless it has loaded ahead.
    Picoseconds prologue(std::int32_t tile) const {
        return from_ns(kernel_.prologue_ns) + tile_paces_.prologue(tile);
    }
    // What a tile's math takes of the mean on a GPC, whose clock counts for nothing else here.
    double pace_of(std::int32_t tile, std::size_t gpc, Picoseconds start) {
        return tile_paces_.math(tile) * clocks_.cycle(gpc, start);
    }
    Picoseconds cycles(double n) const { return static_cast<Picoseconds>(n * cycle_); }
    // Does storing this box keep loads waiting? Not where they should go on across tiles and here leave with
    // their CTA's start: on the GPU they leave ahead of it.
    bool holds_loads(std::int32_t walk) const {
        return boxes_.cast(walk).by_tma && (loads_on_ || !kernel_.epilogue_overlaps);
    }
    // Of one step, for a CTA of this pace, without jitter.
    double math_cycles(const Work::Phase& phase, double pace) const {
        return (phase.math_flops * cycles_per_flop_ + phase.math_cycles) * pace;
    }

    const Machine& machine_;
    const Work& work_;
    const Kernel& kernel_;
    const BoxTable& boxes_;
    const BoxPaces& paces_;
    const int ctas_per_sm_;
    const bool loads_on_;  // into the next tile, while the math of this one goes on
    TileWheel& wheel_;
    TileL2& l2_;
    const std::size_t most_boxes_;  // that a CTA receives in a step, its cluster's multicasts included
    const Picoseconds half_epilogue_;
    const double cycles_per_flop_;
    const double mma_issue_per_flop_;
    GpcClocks clocks_;
    const TilePaces tile_paces_;
    const ExitReports exit_reports_;
    double cycle_ = 1000;
    RandomStream random_;
    Demand demand_;
    Events events_;
};

}  // namespace l2lens
