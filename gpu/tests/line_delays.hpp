// SPDX-License-Identifier: Apache-2.0
// How long single lines take while others stream from DRAM.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/probe/kernels.hpp"

namespace l2lens::gpu {

// At most so many lines are asked for at once: one a warp.
inline constexpr int kMaxLinesAtOnce = 32;

// One SM times its lines, the other participants copy 16 KiB after 16 KiB meanwhile.
struct TimedLines {
    std::vector<std::uint64_t> offsets;  // bytes into the buffer; loaded once each, in turn
    int at_once = 1;
    bool resident = false;  // each is loaded just before, so that it hits
};

struct Streams {
    std::int64_t first_byte = 0;
    std::int64_t bytes_each = 0;  // of each participant, one region after another
    int in_flight = 0;            // copies; 0: nobody streams
    int small = 0;                // so many participants, the last ones, walk small_bytes each instead
    std::int64_t small_bytes = 0;
};

struct LineDelays {
    std::vector<double> ns;   // of each line, in the order of the offsets
    double bytes_per_ns = 0;  // streamed meanwhile
};

// Participant 0 times, the others stream. The buffer holds zeros.
LineDelays time_lines(const void* buffer, const TimedLines& lines, const Streams& streams,
                      const DeviceRoles& roles);

}  // namespace l2lens::gpu
