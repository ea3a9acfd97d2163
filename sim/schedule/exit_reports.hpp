// SPDX-License-Identifier: Apache-2.0
// When the place of a CTA that has left is free to the next one. CTAs that do the same leave a moment sooner
// or later. A grid's dispatcher comes to the GPCs in turn and hears at once of all that have left one since
// it came last, so CTAs of a GPC that end together are followed by launches that follow each other. On an
// H200 launch ids follow exits that are 64 ns apart and more; those of one tick of the clock, 32 ns, go GPC
// by GPC (traces/h200/triton_schedules.csv, gemm_schedules_128x128.csv). A persistent CTA goes on by itself.
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
          jitter_ns_(mode == Mode::Grid ? machine.launch.exit_jitter_ns
                                        : machine.launch.persistent_jitter_ns) {}

    // Of a CTA that is through at `done` in GPC `gpc`; not before.
    Picoseconds heard(Picoseconds done, int gpc, RandomStream& random) const {
        const Picoseconds left = done + from_ns(jitter_ns_ * random.uniform());
        if (round_ == 0) return left;
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
