// SPDX-License-Identifier: Apache-2.0
// From the lanes of a warp to requests: what the load/store unit does with one instruction. Lanes that touch
// one line make one request of it, for the sectors they touch (CUDA C++ Programming Guide, "Device Memory
// Accesses": 32-byte transactions); stores keep which bytes they write.
#pragma once

#include <cstdint>
#include <vector>

#include "import/warp_access.hpp"

namespace l2lens {

// Consecutive bytes inside one line.
struct ByteRun {
    std::uint64_t address = 0;
    std::uint8_t bytes = 0;
    friend bool operator==(const ByteRun&, const ByteRun&) = default;
};

// Appends the requests of one warp access, lines in order of address: for reads runs of whole sectors, for
// writes runs of the bytes written.
void coalesce(const WarpAccess& access, std::vector<ByteRun>& runs);

}  // namespace l2lens
