// SPDX-License-Identifier: Apache-2.0
// What softmax and layernorm have in common: CTAs that take a chunk of a row, walk it piece by piece, and
// reduce over their threads.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/kernels/pieces.cuh"
#include "gpu/kernels/row_shape.hpp"
#include "gpu/kernels/tile_loop.cuh"

namespace l2lens::gpu {

inline constexpr int kMostHeld = 16;  // pieces of its row that a thread keeps in registers

// CTAs of an SM that a kernel is compiled for: as many threads as its registers allow without a spill (which
// would show among the L2's sectors). `held` = 0 is for the kernels that read the row again, four pieces at a
// time.
constexpr int row_ctas(int warps, int held) {
    const int threads = held == 0 ? 1280 : held == 1 ? 2048 : held <= 4 ? 1536 : held <= 8 ? 1024 : 512;
    return std::min(threads / (warps * 32), 32);
}

// Which pieces of a row (counted from its start) a CTA's chunk is.
struct PieceRange {
    std::int64_t first, last;
};

__device__ inline PieceRange chunk_of(const RowPieces& row, std::int64_t chunk) {
    return {chunk * row.chunk, (chunk + 1) * row.chunk};
}

// body(index, piece) for each piece of the range that is this thread's. A batch is loaded before any of it is
// used, so that its loads are in flight together.
template <class Body>
__device__ void for_each_piece(const uint4* row, PieceRange range, Body body) {
    constexpr int kBatch = 4;
    const auto threads = static_cast<std::int64_t>(blockDim.x);
    for (std::int64_t i = range.first + threadIdx.x; i < range.last; i += kBatch * threads) {
        uint4 batch[kBatch];
#pragma unroll
        for (int j = 0; j < kBatch; ++j)
            if (i + j * threads < range.last) batch[j] = row[i + j * threads];
#pragma unroll
        for (int j = 0; j < kBatch; ++j)
            if (i + j * threads < range.last) body(i + j * threads, batch[j]);
    }
}

// The same in every thread of the CTA; combine(a, b) is associative. All threads call it.
template <class Combine>
__device__ float reduce_cta(float x, float neutral, Combine combine) {
    __shared__ float of_warp[32];
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        x = combine(x, __shfl_xor_sync(0xFFFFFFFFu, x, distance));
    __syncthreads();  // of_warp may still be read for the reduction before
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    x = threadIdx.x % 32 < blockDim.x / 32 ? of_warp[threadIdx.x % 32] : neutral;
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        x = combine(x, __shfl_xor_sync(0xFFFFFFFFu, x, distance));
    return x;
}

__device__ inline float max_of_cta(float x) {
    return reduce_cta(x, -INFINITY, [](float a, float b) { return fmaxf(a, b); });
}
__device__ inline float sum_of_cta(float x) {
    return reduce_cta(x, 0.0f, [](float a, float b) { return a + b; });
}

// The compiled kernel of a shape, out of Family<Warps, Held>::kernel for a row held in registers and
// Family<Warps, 0>::of_passes(n) for one that is read n times.
template <template <int, int> class Family, int Warps>
auto kernel_of_warps(const RowShape& shape) {
    if (shape.passes > 1) return Family<Warps, 0>::of_passes(shape.passes);
    const std::int64_t held = (shape.cols / kPieceElements + Warps * 32 - 1) / (Warps * 32);
    if (held <= 1) return Family<Warps, 1>::kernel();
    if (held <= 2) return Family<Warps, 2>::kernel();
    if (held <= 4) return Family<Warps, 4>::kernel();
    if (held <= 8) return Family<Warps, 8>::kernel();
    return Family<Warps, kMostHeld>::kernel();
}

template <template <int, int> class Family>
auto kernel_of(const RowShape& shape) {
    switch (shape.warps) {
        case 1:
            return kernel_of_warps<Family, 1>(shape);
        case 2:
            return kernel_of_warps<Family, 2>(shape);
        case 4:
            return kernel_of_warps<Family, 4>(shape);
        case 8:
            return kernel_of_warps<Family, 8>(shape);
        default:
            return kernel_of_warps<Family, 16>(shape);
    }
}

inline RowPieces pieces_of(const RowShape& shape) {
    return {shape.cols / kPieceElements, shape.cols / shape.chunks / kPieceElements};
}

inline void check_rows(const char* kernel, const RowShape& shape) {
    const std::string name = kernel;
    check_tile_counts(kernel, shape.rows, shape.chunks);
    if (shape.warps < 1 || shape.warps > 16 || !std::has_single_bit(static_cast<unsigned>(shape.warps)))
        throw BadInput(name + " on the GPU takes warps=1, 2, 4, 8 or 16, not " + std::to_string(shape.warps));
    if (shape.passes < 1 || shape.passes > 3)
        throw BadInput(name + ": passes is 1 (the row in registers), 2 or 3, not " +
                       std::to_string(shape.passes));
    if (shape.cols % (std::int64_t{shape.chunks} * kPieceElements) != 0)
        throw BadInput(name + " on the GPU needs chunks of a multiple of 8 columns (16 B); " +
                       std::to_string(shape.cols) + " columns in " + std::to_string(shape.chunks) +
                       " chunks are not");
    if (shape.passes == 1 && shape.chunks != 1)
        throw BadInput(name + ": passes=1 keeps a whole row in a CTA: chunks must be 1, or passes 2 or 3");
    const std::int64_t most = std::int64_t{shape.warps} * 32 * kMostHeld * kPieceElements;
    if (shape.passes == 1 && shape.cols > most)
        throw BadInput(name + ": passes=1 with warps=" + std::to_string(shape.warps) +
                       " holds rows of at most " + std::to_string(most) +
                       " columns; take more warps, or passes=2");
}

template <class Kernel>
int row_ctas_per_sm(Kernel kernel, const RowShape& shape) {
    int ctas = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, reinterpret_cast<const void*>(kernel),
                                                             shape.warps * 32, 0),
               "asking for the occupancy");
    return ctas;
}

}  // namespace l2lens::gpu
