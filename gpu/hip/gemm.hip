// SPDX-License-Identifier: Apache-2.0
// C = A B, bf16 in and out, A[m,k] and B[n,k]: models/kernels/gemm.lua (tn) with 128 x 128 x 32 tiles on the
// matrix cores of CDNA 3. Four waves of 64 lanes, each with 2 x 2 MFMAs of 32 x 32. m, n and k are multiples
// of the tile. Never run: compile-checked for gfx942 only.
#include "hip_runtime.hpp"

namespace l2lens::hip {

constexpr int kTile = 128;
constexpr int kDepth = 32;
constexpr int kThreads = 256;
constexpr int kPitch = kDepth + 8;  // of a row in LDS: 80 B, so that rows start in different banks

typedef short Bf16x4 __attribute__((ext_vector_type(4)));
typedef short Bf16x8 __attribute__((ext_vector_type(8)));
typedef float Fp32x16 __attribute__((ext_vector_type(16)));

// 128 rows of 32 elements into LDS, 16 B a thread and turn.
__device__ void load_tile(Bits16* tile, const Bits16* from, long pitch) {
    for (int i = threadIdx.x; i < kTile * kDepth / 8; i += kThreads) {
        const int row = i / (kDepth / 8), column = i % (kDepth / 8) * 8;
        *reinterpret_cast<Bf16x8*>(tile + row * kPitch + column) =
            *reinterpret_cast<const Bf16x8*>(from + row * pitch + column);
    }
}

// The operand of v_mfma_f32_32x32x8_bf16: lane l has elements k = 4 (l / 32) .. + 3 of row l mod 32.
__device__ Bf16x4 operand(const Bits16* tile, int row, int k, int lane) {
    return *reinterpret_cast<const Bf16x4*>(tile + (row + lane % 32) * kPitch + k + 4 * (lane / 32));
}

__global__ __launch_bounds__(kThreads) void gemm(const Bits16* a, const Bits16* b, Bits16* c, int n, int k,
                                                 const Tile* order) {
    __shared__ __attribute__((aligned(16))) Bits16 of_a[kTile * kPitch];
    __shared__ __attribute__((aligned(16))) Bits16 of_b[kTile * kPitch];
    const Tile at = order[blockIdx.x];
    const int wave = threadIdx.x / 64, lane = threadIdx.x % 64;
    const int row = wave / 2 * 64, column = wave % 2 * 64;
    Fp32x16 sum[2][2] = {};
    for (int step = 0; step < k; step += kDepth) {
        load_tile(of_a, a + static_cast<long>(at.row) * kTile * k + step, k);
        load_tile(of_b, b + static_cast<long>(at.column) * kTile * k + step, k);
        __syncthreads();
        for (int part = 0; part < kDepth; part += 8) {
            for (int i = 0; i < 2; ++i) {
                for (int j = 0; j < 2; ++j) {
                    sum[i][j] = __builtin_amdgcn_mfma_f32_32x32x8bf16_1k(
                        operand(of_a, row + 32 * i, part, lane), operand(of_b, column + 32 * j, part, lane),
                        sum[i][j], 0, 0, 0);
                }
            }
        }
        __syncthreads();
    }
    // Accumulator e of lane l is row 8 (e / 4) + 4 (l / 32) + e mod 4, column l mod 32.
    for (int i = 0; i < 2; ++i) {
        for (int j = 0; j < 2; ++j) {
            for (int e = 0; e < 16; ++e) {
                const long y =
                    static_cast<long>(at.row) * kTile + row + 32 * i + 8 * (e / 4) + 4 * (lane / 32) + e % 4;
                const int x = at.column * kTile + column + 32 * j + lane % 32;
                c[y * n + x] = to_bf16(sum[i][j][e]);
            }
        }
    }
}

}  // namespace l2lens::hip
