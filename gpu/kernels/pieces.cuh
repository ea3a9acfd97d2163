// SPDX-License-Identifier: Apache-2.0
// A piece: the 16 bytes a thread loads or stores at once, as the eight bf16 they hold; and the exponential.
#pragma once

#include <cstdint>

#include <cuda_bf16.h>

namespace l2lens::gpu {

inline constexpr int kPieceElements = 8;

__device__ inline std::uint32_t pack_bf16(float low, float high) {
    const __nv_bfloat162 both = __floats2bfloat162_rn(low, high);
    return *reinterpret_cast<const std::uint32_t*>(&both);
}

// A bf16 is the upper half of a float.
__device__ inline void unpack_piece(const uint4& piece, float (&x)[kPieceElements]) {
    const std::uint32_t words[4] = {piece.x, piece.y, piece.z, piece.w};
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        x[2 * i] = __uint_as_float(words[i] << 16);
        x[2 * i + 1] = __uint_as_float(words[i] & 0xFFFF0000u);
    }
}

__device__ inline uint4 pack_piece(const float (&x)[kPieceElements]) {
    return {pack_bf16(x[0], x[1]), pack_bf16(x[2], x[3]), pack_bf16(x[4], x[5]), pack_bf16(x[6], x[7])};
}

// 2^x to two units in the last place (PTX ISA, ex2.approx).
__device__ inline float exp2_fast(float x) {
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

inline constexpr float kLog2E = 1.4426950408889634f;

}  // namespace l2lens::gpu
