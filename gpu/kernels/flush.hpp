// SPDX-License-Identifier: Apache-2.0
// Puts the L2 into a known state before a counted launch: full of clean lines that the launch does not use.
#pragma once

#include <cstdint>

namespace l2lens::gpu {

// Reads `bytes` (more than twice the L2) of device memory with all SMs. Dirty lines of earlier launches are
// written back, nothing is left dirty: writing a buffer instead would charge its write-backs to the counted
// launch.
void flush_l2(const void* buffer, std::int64_t bytes, void* stream = nullptr);

}  // namespace l2lens::gpu
