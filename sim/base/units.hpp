// SPDX-License-Identifier: Apache-2.0
// The units everything is counted in. One clock for the whole model: picoseconds, so that the SM's, the L2's
// and the DRAM's clock domains can meet without rounding drift and sums stay exact on every machine.
#pragma once

#include <cstdint>

namespace l2lens {

using Picoseconds = std::int64_t;

inline constexpr Picoseconds kPsPerNs = 1000;

// A line has one tag, a sector is the unit of validity and of the counters: the same on every GPU modelled
// here (V100 to B200, Nsight Compute Profiling Guide, "L2 Cache"; MI300X has 128 B lines too).
inline constexpr int kLineBytes = 128;
inline constexpr int kSectorBytes = 32;
inline constexpr int kSectorsPerLine = kLineBytes / kSectorBytes;
inline constexpr int kLineShift = 7;

// Number of a 128 B line: address >> 7. 32 bits reach 512 GiB, more than any of these GPUs holds.
using LineNumber = std::uint32_t;

// Bit s set: sector s of the line.
using SectorMask = std::uint8_t;
inline constexpr SectorMask kWholeLine = 0xF;

inline constexpr Picoseconds from_ns(double ns) {
    return static_cast<Picoseconds>(ns * 1000.0 + (ns < 0 ? -0.5 : 0.5));
}

template <class T>
constexpr T ceil_div(T a, T b) {
    return (a + b - 1) / b;
}

}  // namespace l2lens
