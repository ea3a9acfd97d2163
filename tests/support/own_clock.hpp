// SPDX-License-Identifier: Apache-2.0
// A launch begins at 0, its SMs are busy no longer than it takes, and its math takes what it takes.
#pragma once

#include <algorithm>
#include <limits>

#include "machine/machine.hpp"
#include "schedule/simulation.hpp"
#include "support/catch.hpp"

namespace l2lens::test {

// math_cycles: of each CTA's math, in SM cycles. The result is of one wave and has a schedule.
inline void check_own_clock(const SimulationResult& result, const Machine& machine, double math_cycles) {
    Picoseconds first = std::numeric_limits<Picoseconds>::max(), last = 0;
    for (const CtaStay& stay : result.schedule) {
        CHECK(stay.start < stay.end);
        first = std::min(first, stay.start);
        last = std::max(last, stay.end);
    }
    CHECK(first == 0);
    CHECK(last == result.time);
    const double cycles_at_most = static_cast<double>(result.time) / kPsPerNs * machine.clock.sm_max_ghz;
    CHECK(cycles_at_most > math_cycles);
    CHECK(result.sm_cycles <= cycles_at_most);
}

}  // namespace l2lens::test
