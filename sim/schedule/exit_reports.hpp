// SPDX-License-Identifier: Apache-2.0
// When the place of a CTA that has left is free to the next one. A grid's dispatcher comes to the GPCs in
// turn and hears at once of all that have left one since it came last, so CTAs of a GPC that end together are
// followed by launches that follow each other. On an H200 launch ids follow exits that are 64 ns apart and
// more; those of one tick of the clock, 32 ns, go GPC by GPC (traces/h200/triton_schedules.csv,
// gemm_schedules_128x128.csv). A persistent CTA goes on by itself, a moment sooner or later.
#pragma once

#include "base/random.hpp"
#include "base/units.hpp"
#include "machine/machine.hpp"
#include "schedule/mode.hpp"

namespace l2lens {

class ExitReports {
public:
    ExitReports(const Machine& machine, Mode mode)
        : round_(mode == Mode::Grid ? from_ns(machine.launch.exit_round_ns) : 0),
          gpcs_(machine.gpcs),
          jitter_ns_(machine.launch.exit_jitter_ns) {}

    // Of a CTA that leaves GPC `gpc` at `left`; not before.
    Picoseconds heard(Picoseconds left, int gpc, RandomStream& random) const {
        if (round_ == 0) return left + from_ns(jitter_ns_ * random.uniform());
        const Picoseconds turn = round_ * gpc / gpcs_;
        const Picoseconds late = (left - turn) % round_;  // below 0 before the GPC's first turn
        return late > 0 ? left + round_ - late : left - late;
    }

private:
    Picoseconds round_;  // 0: each is heard of by itself
    int gpcs_;
    double jitter_ns_;
};

}  // namespace l2lens
