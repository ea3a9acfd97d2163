// SPDX-License-Identifier: Apache-2.0
// A warp's own matrix instructions (PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions"), for tiles
// too small for wgmma: bf16 operands out of shared memory, fp32 accumulators. Lane l holds rows l / 4 and
// l / 4 + 8, columns 2 (l % 4) and the next.
#pragma once

#include <cstdint>

namespace l2lens::gpu {

// D[16, 8] += A[16, 16] B[16, 8].
__device__ inline void mma_16x8x16(float* d, const std::uint32_t (&a)[4], std::uint32_t b0,
                                   std::uint32_t b1) {
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
        "{%0, %1, %2, %3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// Four 8 x 8 matrices of 16-bit elements; lane l gives the address of row l % 8 of matrix l / 8.
template <bool Transposed>
__device__ inline void load_matrices(std::uint32_t (&r)[4], std::uint32_t row) {
    if (Transposed)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(row)
                     : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                     : "r"(row)
                     : "memory");
}

// A bf16 tile in shared memory, `pitch_bytes` from row to row.
struct SharedTile {
    std::uint32_t address;
    int pitch_bytes;

    __device__ std::uint32_t at(int row, int column) const {
        return address + static_cast<std::uint32_t>(row * pitch_bytes + column * 2);
    }
    // A[16, 16] at (row, column).
    __device__ void load_a(std::uint32_t (&r)[4], int row, int column) const {
        const int lane = static_cast<int>(threadIdx.x % 32);
        load_matrices<false>(r, at(row + lane % 16, column + lane / 16 * 8));
    }
    // Two B[16, 8] side by side, the tile's rows being n and its columns k: r[0], r[1] and r[2], r[3].
    __device__ void load_b_by_n(std::uint32_t (&r)[4], int n, int k) const {
        const int lane = static_cast<int>(threadIdx.x % 32);
        load_matrices<false>(r, at(n + lane / 16 * 8 + lane % 8, k + lane / 8 % 2 * 8));
    }
    // The same of a tile whose rows are k and whose columns are n.
    __device__ void load_b_by_k(std::uint32_t (&r)[4], int k, int n) const {
        const int lane = static_cast<int>(threadIdx.x % 32);
        load_matrices<true>(r, at(k + lane % 16, n + lane / 16 * 8));
    }
};

}  // namespace l2lens::gpu
