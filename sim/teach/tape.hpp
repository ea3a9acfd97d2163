// SPDX-License-Identifier: Apache-2.0
// A launch, access by access: what the lanes of the L2 told while the model ran it
// (memory/lane_observer.hpp). Nothing is modelled here. A tape is the same each time it is recorded, so going
// back a step is playing it again to the step before.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "counters/counters.hpp"
#include "kernel/kernel.hpp"
#include "machine/machine.hpp"
#include "memory/lane_observer.hpp"
#include "schedule/dispatcher.hpp"

namespace l2lens {

struct Access {
    LaneStep step;
    int sm = -1;                // whose read it is; -1 for stores and home steps, which do not say
    Picoseconds answered = -1;  // when its data left the slice; -1 for stores and home steps
    int answered_with = 1;      // requests that the same answer served
};

struct Tape {
    std::vector<Access> accesses;  // in time
    bool complete = true;          // false: the launch went on
    Events events;                 // of the whole launch; of an incomplete tape none
    Picoseconds time = 0;          // launch -> last CTA's exit
    std::uint64_t seed = 0;        // draws where the memory lies, too
};

// How a launch is recorded.
struct TapeOptions {
    Mode mode = Mode::Grid;
    std::uint64_t seed = 0;
    std::size_t most_accesses = 100'000;  // a tape that would be longer ends there
};

// Runs the launch (launches[id]: program of that CTA, or -1) with every line simulated.
Tape record_tape(const Machine& machine, const Kernel& kernel, std::span<const std::int32_t> launches,
                 int ctas_per_sm, const TapeOptions& options);

}  // namespace l2lens
