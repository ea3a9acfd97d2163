// SPDX-License-Identifier: Apache-2.0
// What a trace holds. A box record is a box as an SM's load engine takes it up, to be expanded with the
// trace's tensors and walks; a line record is one request as it reaches its slice. Records stand in the order
// in which the lanes of the L2 get them, and each knows the end of the window it was issued in: replaying
// them in that order, at those times, gives the counters of the run they came from.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "kernel/kernel.hpp"
#include "memory/messages.hpp"

namespace l2lens {

// Line numbers have 32 bits: 512 GiB.
inline constexpr std::uint64_t kTraceAddressEnd = std::uint64_t{1} << (32 + kLineShift);

// No kernel worth a trace runs longer, and the model steps through time in microseconds.
inline constexpr Picoseconds kTraceTimeEnd = 10'000'000'000'000;  // 10 s

// A box walk as a trace names it: by its number.
struct TraceWalk {
    BoxWalk box;
    std::int64_t count = 0;  // steps
    Operation operation = Operation::Read;

    bool reduces() const { return operation == Operation::Write && box.reduce; }
};

inline constexpr std::uint32_t kMostTraceWalks = 1u << 20;

struct BoxRecord {
    Picoseconds window = 0;  // end of the window it was issued in
    double cycle_ps = 0;     // SM clock in that window
    Picoseconds time = 0;    // the load engine begins with it
    std::uint32_t walk = 0;
    std::uint32_t step = 0;
    std::uint16_t sm = 0;
    std::uint8_t receivers = 1;  // CTAs of a cluster that get the data (multicast)

    friend bool operator==(const BoxRecord&, const BoxRecord&) = default;
};

struct LineRecord {
    Picoseconds window = 0;
    Picoseconds time = 0;  // arrival at the slice
    std::uint64_t address = 0;
    std::uint16_t sm = 0;
    std::uint8_t bytes = 0;  // 1 to 128, inside one line
    std::uint8_t receivers = 1;
    Operation operation = Operation::Read;
    Path path = Path::Tma;
    bool shifted : 1 = false;  // of a TMA row that begins inside a sector: it is not merged
    bool reduce : 1 = false;   // of a write: added to what is there, in the L2, which needs the old bytes
    CacheHint hint = CacheHint::None;

    friend bool operator==(const LineRecord&, const LineRecord&) = default;
};
static_assert(sizeof(LineRecord) == 32);  // imports and text traces are kept whole

// One of the two is empty.
struct RecordBatch {
    std::vector<BoxRecord> boxes;
    std::vector<LineRecord> lines;

    std::size_t size() const { return boxes.size() + lines.size(); }
};

}  // namespace l2lens
