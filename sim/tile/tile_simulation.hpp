// SPDX-License-Identifier: Apache-2.0
// The event loop when a box is the unit: the dispatcher, the SMs and the L2 of the line engine's picture, on
// one queue and one thread. An order takes milliseconds, so that threads are for other orders.
#pragma once

#include <cstdint>
#include <span>

#include "kernel/kernel.hpp"
#include "machine/machine.hpp"
#include "schedule/dispatcher.hpp"
#include "schedule/simulation.hpp"
#include "schedule/work.hpp"

#include "tile/box_table.hpp"

namespace l2lens {

// launches[id]: program of the CTA with that launch id, or -1. Of the result, slice_sectors stays empty.
// Throws Interrupted when a stop is requested.
SimulationResult simulate_tiles(const Machine& machine, const Work& work, const BoxTable& boxes,
                                std::span<const std::int32_t> launches, int ctas_per_sm,
                                const RunOptions& options);

}  // namespace l2lens
