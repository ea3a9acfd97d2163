// SPDX-License-Identifier: Apache-2.0
// Random bits from a number, on the CPU and the GPU.
#pragma once

#include <cstdint>

namespace l2lens::gpu {

// SplitMix64 (Steele, Lea, Flood 2014).
__host__ __device__ inline std::uint64_t mix(std::uint64_t x) {
    x += 0x9E3779B97F4A7C15ull;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBull;
    return x ^ (x >> 31);
}

}  // namespace l2lens::gpu
