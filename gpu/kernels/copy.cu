// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/kernels/copy.hpp"
#include "gpu/kernels/tile_loop.cuh"

namespace l2lens::gpu {
namespace {

constexpr int kCopyThreads = 128;  // copy.lua: warps = 4
constexpr int kCopyCtas = 16;      // of an SM: copy.lua: registers = 32

// Piece: what one thread moves, an element or the 16 bytes of several. A batch is loaded before any of it is
// stored, so that its loads are in flight together.
template <class Piece>
__global__ void __launch_bounds__(kCopyThreads, kCopyCtas)
    copy_kernel(const Piece* a, Piece* b, std::int64_t rows, std::int64_t pieces, int tile_rows,
                int tile_pieces, TileList list) {
    constexpr int kBatch = 2;
    for_each_tile(list, [&](std::int64_t tile_row, std::int64_t tile_column) {
        const auto offset = [&](int i) -> std::int64_t {
            const std::int64_t row = tile_row * tile_rows + i / tile_pieces;
            const std::int64_t piece = tile_column * tile_pieces + i % tile_pieces;
            const bool inside = i < tile_rows * tile_pieces && row < rows && piece < pieces;
            return inside ? row * pieces + piece : -1;
        };
        for (int i = static_cast<int>(threadIdx.x); i < tile_rows * tile_pieces; i += kCopyThreads * kBatch) {
            Piece batch[kBatch];
#pragma unroll
            for (int j = 0; j < kBatch; ++j)
                if (const std::int64_t at = offset(i + j * kCopyThreads); at >= 0) batch[j] = a[at];
#pragma unroll
            for (int j = 0; j < kBatch; ++j)
                if (const std::int64_t at = offset(i + j * kCopyThreads); at >= 0) b[at] = batch[j];
        }
    });
}

// 16 bytes at a time where rows allow it.
int piece_bytes(const CopyShape& shape) {
    const bool wide = shape.n * shape.element_bytes % 16 == 0 && shape.bn * shape.element_bytes % 16 == 0;
    return wide ? 16 : shape.element_bytes;
}

template <class Call>
auto with_type(int bytes, Call call) {
    switch (bytes) {
        case 1:
            return call(std::uint8_t{});
        case 2:
            return call(std::uint16_t{});
        case 4:
            return call(std::uint32_t{});
        default:
            return call(uint4{});
    }
}

int occupancy(const void* kernel, int threads, std::size_t shared) {
    int ctas = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel, threads, shared),
               "asking for the occupancy");
    return ctas;
}

}  // namespace

void check_copy(const CopyShape& shape) {
    check_tile_counts("copy", (shape.m + shape.bm - 1) / shape.bm, (shape.n + shape.bn - 1) / shape.bn);
    if (shape.path != CopyPath::Tma) return;
    if (shape.n * shape.element_bytes % 16 != 0 || shape.bn * shape.element_bytes % 16 != 0)
        throw BadInput(
            "copy path=tma needs rows of the matrix and of a tile that are multiples of 16 B; path=ld does "
            "not");
    if (shape.bm > 256 || shape.bn > 256)
        throw BadInput(
            "copy path=tma on the GPU takes tiles of at most 256 x 256 elements (a box of a tensor map)");
    if (shape.bm * shape.bn * shape.element_bytes > 226 * 1024)
        throw BadInput("copy path=tma: a tile must fit shared memory");
}

int copy_ctas_per_sm(const CopyShape& shape) {
    if (shape.path == CopyPath::Tma) return tma_copy_ctas_per_sm(shape);
    return with_type(piece_bytes(shape), [](auto piece) {
        return occupancy(reinterpret_cast<const void*>(copy_kernel<decltype(piece)>), kCopyThreads, 0);
    });
}

void launch_copy(const CopyShape& shape, const void* a, void* b, const LaunchPlan& plan) {
    check_copy(shape);
    reset_tile_counter(plan);
    if (shape.path == CopyPath::Tma) return launch_tma_copy(shape, a, b, plan);
    const int bytes = piece_bytes(shape);
    const int per_piece = bytes / shape.element_bytes;
    with_type(bytes, [&](auto piece) {
        using Piece = decltype(piece);
        copy_kernel<<<tile_ctas(plan), kCopyThreads, 0, static_cast<cudaStream_t>(plan.stream)>>>(
            static_cast<const Piece*>(a), static_cast<Piece*>(b), shape.m, shape.n / per_piece, shape.bm,
            shape.bn / per_piece, tile_list(plan));
    });
    check_launch("copy");
}

}  // namespace l2lens::gpu
