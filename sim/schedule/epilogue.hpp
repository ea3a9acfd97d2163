// SPDX-License-Identifier: Apache-2.0
// When a CTA is through with a tile whose math has ended. Stores begin half-way through its epilogue.
#pragma once

#include <algorithm>

#include "base/units.hpp"
#include "kernel/kernel.hpp"
#include "machine/machine.hpp"

namespace l2lens {

// For how many SM cycles the SM stores what fits the kernel's store buffers.
inline double store_buffer_cycles(const Kernel& kernel, const Machine& machine) {
    const double stored = machine.bandwidth.store_lines_per_cycle;
    const double rate = stored > 0 ? stored : machine.bandwidth.issue_lines_per_cycle;
    return static_cast<double>(kernel.store_buffer_bytes) / kLineBytes / rate;
}

// Its math ended at `now`, the last of its stores leaves the SM at `stored`. A CTA that leaves waits for
// that; a persistent one goes on when the rest is in its buffers, which takes the other half of the epilogue.
// It takes `deviation` longer than the mean.
inline Picoseconds end_of_epilogue(const Kernel& kernel, Picoseconds now, Picoseconds stored,
                                   Picoseconds buffered, Picoseconds deviation) {
    const Picoseconds half = from_ns(kernel.epilogue_ns / 2);
    const Picoseconds mean = kernel.epilogue_overlaps ? std::max(now + half, stored - buffered) + half
                                                      : std::max(now + 2 * half, stored);
    return std::max(mean + deviation, now);
}

}  // namespace l2lens
