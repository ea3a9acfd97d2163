// SPDX-License-Identifier: Apache-2.0
// The L2 alone, fed from a trace. On the GPU the trace was recorded on, with its seed, every lane gets the
// requests of the recorded run in the same order at the same times, so all counters are the same.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "base/executor.hpp"
#include "counters/counters.hpp"
#include "machine/machine.hpp"
#include "trace/reader.hpp"

namespace l2lens {

struct ReplayOptions {
    std::optional<std::uint64_t> seed;  // else the trace's
    std::function<bool()> stop_requested;
};

struct ReplayResult {
    Events events;     // of the simulated lanes
    double scale = 1;  // as in SimulationResult
    int lanes = 0;     // simulated
    std::uint64_t seed = 0;
    std::uint64_t records = 0;
    std::uint64_t requests = 0;  // for lines, in simulated lanes
    Picoseconds time = 0;        // of the last answer or arrival
};

// Throws BadInput, naming the record, for SMs the machine does not have and lines of lanes that were not
// recorded. reader.warning() may have something to say afterwards.
ReplayResult replay(TraceReader& reader, const Machine& machine, const ReplayOptions& options,
                    Executor& executor);

}  // namespace l2lens
