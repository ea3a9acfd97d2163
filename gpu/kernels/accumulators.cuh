// SPDX-License-Identifier: Apache-2.0
// wgmma's accumulators on their way out: rounded to bf16 and laid out as the copy engine stores them.
#pragma once

#include <cstdint>

#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/pieces.cuh"

namespace l2lens::gpu {

// 64 columns of this warp's 16 rows into a 64 x 64 piece. The 16-byte unit at column u of row r lies at unit
// u ^ (r % 8), as TMA's 128 B swizzle wants it.
__device__ inline void write_accumulators(std::uint32_t piece, const float* sums) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int row = static_cast<int>(threadIdx.x / 32 % 4) * 16 + lane % 16;
    const std::uint32_t start = piece + row * 128;
#pragma unroll
    for (int pair = 0; pair < 4; ++pair) {
        const float* d = sums + pair * 8;
        const int unit = pair * 2 + lane / 16;
        hopper::store_matrices(start + ((unit ^ (row % 8)) * 16), pack_bf16(d[0], d[1]),
                               pack_bf16(d[2], d[3]), pack_bf16(d[4], d[5]), pack_bf16(d[6], d[7]));
    }
}

}  // namespace l2lens::gpu
