// SPDX-License-Identifier: Apache-2.0
// Somebody who looks on as boxes leave the SMs: how a trace is recorded. Boxes of a window come after it has
// run, GPC by GPC, each GPC's in the order of issue: the order in which the lanes of the L2 get their lines.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include "base/units.hpp"

namespace l2lens {

class Lane;
class LaneSample;
class Work;

// One box as an SM's load engine takes it up.
struct BoxIssue {
    Picoseconds time = 0;    // when the engine begins with it
    std::int32_t walk = 0;   // in Work
    std::uint32_t step = 0;  // of the walk
    std::uint16_t sm = 0;
    std::uint8_t receivers = 1;  // as in Request
};

class RequestSink {
public:
    virtual ~RequestSink() = default;
    // Before the first window of a launch. Both live until its last.
    virtual void begin(const Work& work, const LaneSample& sample) = 0;
    // After begin(): the lanes, which may be looked at between windows.
    virtual void launched(std::span<const std::unique_ptr<Lane>> /*lanes*/) {}
    // Boxes of one GPC in the window that ended at `end`, at an SM clock of `cycle_ps`. Called by one thread;
    // an exception ends the run.
    virtual void issued(Picoseconds end, double cycle_ps, std::span<const BoxIssue> boxes) = 0;
};

}  // namespace l2lens
