// SPDX-License-Identifier: Apache-2.0
// Line requests made beforehand, so that a benchmark measures the memory model and nothing else.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "machine/machine.hpp"
#include "schedule/work.hpp"

namespace l2lens::bench {

struct LineEvent {
    Picoseconds time;  // arrival at the slice
    LineNumber line;
    std::uint8_t lane;  // index in the sample
    std::uint8_t gpc;
    std::uint8_t sm;  // of the GPC
};

struct LineStream {
    std::vector<LineEvent> events;  // by time
    Picoseconds duration = 0;
};

const Machine& h200();

// "row_major", "group_m:8": the first two waves of gemm 8192x8192x8192 in that order, all CTAs of a wave in
// lockstep, k-step after k-step. "random": as many lines, evenly from 100
// MiB.
LineStream make_stream(const std::string& pattern, const LaneSample& sample);

}  // namespace l2lens::bench
