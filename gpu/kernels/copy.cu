// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/kernels/copy.hpp"
#include "gpu/kernels/tile_loop.cuh"

namespace l2lens::gpu {
namespace {

constexpr int kCopyThreads = 128;       // copy.lua: warps = 4
constexpr int kTransposeThreads = 256;  // transpose.lua: warps = 8

// Piece: what one thread moves, an element or the 16 bytes of several.
template <class Piece>
__global__ void __launch_bounds__(kCopyThreads)
    copy_kernel(const Piece* a, Piece* b, std::int64_t rows, std::int64_t pieces, int tile_rows,
                int tile_pieces, TileList list) {
    for_each_tile(list, [&](std::int64_t tile_row, std::int64_t tile_column) {
        for (int i = static_cast<int>(threadIdx.x); i < tile_rows * tile_pieces; i += kCopyThreads) {
            const std::int64_t row = tile_row * tile_rows + i / tile_pieces;
            const std::int64_t piece = tile_column * tile_pieces + i % tile_pieces;
            if (row < rows && piece < pieces) b[row * pieces + piece] = a[row * pieces + piece];
        }
    });
}

// Through shared memory with a column of padding against bank conflicts.
template <class Element>
__global__ void __launch_bounds__(kTransposeThreads)
    transpose_kernel(const Element* a, Element* b, std::int64_t m, std::int64_t n, int tile, TileList list) {
    extern __shared__ char raw[];
    auto* staged = reinterpret_cast<Element*>(raw);
    for_each_tile(list, [&](std::int64_t tile_row, std::int64_t tile_column) {
        for (int i = static_cast<int>(threadIdx.x); i < tile * tile; i += kTransposeThreads) {
            const std::int64_t row = tile_row * tile + i / tile;
            const std::int64_t column = tile_column * tile + i % tile;
            if (row < m && column < n) staged[i / tile * (tile + 1) + i % tile] = a[row * n + column];
        }
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < tile * tile; i += kTransposeThreads) {
            const std::int64_t row = tile_row * tile + i % tile;
            const std::int64_t column = tile_column * tile + i / tile;
            if (row < m && column < n) b[column * m + row] = staged[i % tile * (tile + 1) + i / tile];
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

std::size_t transpose_shared(const TransposeShape& shape) {
    return static_cast<std::size_t>(shape.tile) * static_cast<std::size_t>(shape.tile + 1) *
           static_cast<std::size_t>(shape.element_bytes);
}

template <class Element>
void allow_shared(const TransposeShape& shape) {
    check_cuda(cudaFuncSetAttribute(transpose_kernel<Element>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(transpose_shared(shape))),
               "asking for the transpose kernel's shared memory");
}

void reset_counter(const LaunchPlan& plan) {
    if (plan.mode != LaunchMode::Dynamic) return;
    check_cuda(
        cudaMemsetAsync(plan.counter, 0, sizeof(std::uint32_t), static_cast<cudaStream_t>(plan.stream)),
        "resetting the tile counter");
}

void check_tiles(const char* kernel, std::int64_t rows, std::int64_t columns) {
    if (rows > 0xFFFE || columns > 0xFFFE)
        throw BadInput(std::string(kernel) + " on the GPU takes at most 65534 tiles along an axis");
}

}  // namespace

void check_copy(const CopyShape& shape) {
    check_tiles("copy", (shape.m + shape.bm - 1) / shape.bm, (shape.n + shape.bn - 1) / shape.bn);
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

void check_transpose(const TransposeShape& shape) {
    check_tiles("transpose", (shape.m + shape.tile - 1) / shape.tile,
                (shape.n + shape.tile - 1) / shape.tile);
    if (transpose_shared(shape) > 226 * 1024) throw BadInput("transpose: a tile must fit shared memory");
}

int copy_ctas_per_sm(const CopyShape& shape) {
    if (shape.path == CopyPath::Tma) return tma_copy_ctas_per_sm(shape);
    return with_type(piece_bytes(shape), [](auto piece) {
        return occupancy(reinterpret_cast<const void*>(copy_kernel<decltype(piece)>), kCopyThreads, 0);
    });
}

int transpose_ctas_per_sm(const TransposeShape& shape) {
    return with_type(shape.element_bytes, [&](auto element) {
        allow_shared<decltype(element)>(shape);
        return occupancy(reinterpret_cast<const void*>(transpose_kernel<decltype(element)>),
                         kTransposeThreads, transpose_shared(shape));
    });
}

void launch_copy(const CopyShape& shape, const void* a, void* b, const LaunchPlan& plan) {
    check_copy(shape);
    reset_counter(plan);
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

void launch_transpose(const TransposeShape& shape, const void* a, void* b, const LaunchPlan& plan) {
    check_transpose(shape);
    reset_counter(plan);
    with_type(shape.element_bytes, [&](auto element) {
        using Element = decltype(element);
        allow_shared<Element>(shape);
        transpose_kernel<<<tile_ctas(plan), kTransposeThreads, transpose_shared(shape),
                           static_cast<cudaStream_t>(plan.stream)>>>(static_cast<const Element*>(a),
                                                                     static_cast<Element*>(b), shape.m,
                                                                     shape.n, shape.tile, tile_list(plan));
    });
    check_launch("transpose");
}

}  // namespace l2lens::gpu
