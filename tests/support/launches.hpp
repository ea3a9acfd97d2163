// SPDX-License-Identifier: Apache-2.0
// Whole launches on the schedule's own machinery, for tests of what happens in them.
#pragma once

#include <cstdint>
#include <vector>

#include "schedule/simulation.hpp"

namespace l2lens::test {

inline SimulationResult run(const Machine& machine, const Kernel& kernel,
                            const std::vector<std::int32_t>& launches, const SimulationOptions& options,
                            int ctas_per_sm = 1) {
    SerialExecutor serial;
    return Simulation(machine, kernel, launches, ctas_per_sm, options).run(serial);
}

inline SimulationOptions lanes(int count, Mode mode = Mode::Grid) {
    SimulationOptions options;
    options.lanes = count;
    options.mode = mode;
    return options;
}

// What the SM's side of the teaching GPU adds to a line: 10 cycles to issue it, 0.5 ns in the GPC's port (128
// B at 256 B/ns), 1 ns into the SM. The rest as in memory_traffic.cpp: 20 + 10 + 8 + 100 + 1 + 20 for a near
// line.
inline constexpr double kFirstLineNs = 10 + (20 + 10 + 8 + 100 + 1 + 20) + 0.5 + 1;

}  // namespace l2lens::test
