// SPDX-License-Identifier: Apache-2.0
// B = A transposed through shared memory. Rows that are multiples of 16 B move 16 B a thread and all of a
// tile's loads are in flight at once; other rows move element by element.
#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/kernels/copy.hpp"
#include "gpu/kernels/tile_loop.cuh"

namespace l2lens::gpu {
namespace {

constexpr int kThreads = 256;  // transpose.lua: warps = 8
constexpr int kPieceBytes = 16;
constexpr int kWordBytes = 4;
constexpr std::int64_t kMostSharedMemory = 226 * 1024;

struct Transposition {
    const void* a;
    void* b;
    std::int64_t m, n;
    int tile;
    TileList list;
};

// Element by element, with a column of padding against bank conflicts.
template <class Element>
__global__ void __launch_bounds__(kThreads) transpose_elements(const __grid_constant__ Transposition t) {
    extern __shared__ __align__(kPieceBytes) char raw[];
    auto* staged = reinterpret_cast<Element*>(raw);
    const auto* a = static_cast<const Element*>(t.a);
    auto* b = static_cast<Element*>(t.b);
    const int tile = t.tile;
    for_each_tile(t.list, [&](std::int64_t tile_row, std::int64_t tile_column) {
        for (int i = static_cast<int>(threadIdx.x); i < tile * tile; i += kThreads) {
            const std::int64_t row = tile_row * tile + i / tile;
            const std::int64_t column = tile_column * tile + i % tile;
            if (row < t.m && column < t.n) staged[i / tile * (tile + 1) + i % tile] = a[row * t.n + column];
        }
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < tile * tile; i += kThreads) {
            const std::int64_t row = tile_row * tile + i % tile;
            const std::int64_t column = tile_column * tile + i / tile;
            if (row < t.m && column < t.n) b[column * t.m + row] = staged[i % tile * (tile + 1) + i / tile];
        }
    });
}

// A piece (16 B) of each of as many rows as elements fill a word: a block that turns into whole words of rows
// of B.
template <class Element>
struct Block {
    static constexpr int kRows = kWordBytes / static_cast<int>(sizeof(Element));
    static constexpr int kColumns = kPieceBytes / static_cast<int>(sizeof(Element));
    union {
        uint4 piece[kRows];
        Element element[kRows][kColumns];
    };

    // The column's elements, one below the other.
    __device__ std::uint32_t word(int column) const {
        std::uint32_t packed = 0;
#pragma unroll
        for (int row = 0; row < kRows; ++row)
            packed |= static_cast<std::uint32_t>(element[row][column]) << (row * 8 * sizeof(Element));
        return packed;
    }
};

// Where word `word` of row `row` of the turned tile lies. Each row's pieces are rotated by the block column
// it came from: a warp writes one word of 8 columns' blocks, 8 rows apart in shared memory, and meets 32
// banks.
template <class Element>
__device__ int staged_word(int row, int word, int pieces_of_row) {
    const int piece = (word / 4 + row / Block<Element>::kColumns) % pieces_of_row;
    return (row * pieces_of_row + piece) * 4 + word % 4;
}

template <class Element>
__global__ void __launch_bounds__(kThreads) transpose_pieces(const __grid_constant__ Transposition t) {
    using B = Block<Element>;
    extern __shared__ __align__(kPieceBytes) std::uint32_t words[];
    const int pieces = t.tile / B::kColumns;  // of a tile's row, in A and in B
    for_each_tile(t.list, [&](std::int64_t tile_row, std::int64_t tile_column) {
        const std::int64_t first_row = tile_row * t.tile;
        const std::int64_t first_column = tile_column * t.tile;
        for (int i = static_cast<int>(threadIdx.x); i < pieces * (t.tile / B::kRows); i += kThreads) {
            const int row = i / pieces * B::kRows;
            const int column = i % pieces * B::kColumns;
            B block{};
#pragma unroll
            for (int j = 0; j < B::kRows; ++j)
                if (first_row + row + j < t.m && first_column + column < t.n)
                    block.piece[j] =
                        *reinterpret_cast<const uint4*>(static_cast<const Element*>(t.a) +
                                                        (first_row + row + j) * t.n + first_column + column);
#pragma unroll
            for (int j = 0; j < B::kColumns; ++j)
                words[staged_word<Element>(column + j, row / B::kRows, pieces)] = block.word(j);
        }
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < pieces * t.tile; i += kThreads) {
            const int row = i / pieces;
            const int column = i % pieces * B::kColumns;
            if (first_column + row >= t.n || first_row + column >= t.m) continue;
            *reinterpret_cast<uint4*>(static_cast<Element*>(t.b) + (first_column + row) * t.m + first_row +
                                      column) =
                *reinterpret_cast<const uint4*>(&words[staged_word<Element>(row, i % pieces * 4, pieces)]);
        }
    });
}

using Kernel = void (*)(Transposition);

bool moves_pieces(const TransposeShape& shape) {
    return shape.m * shape.element_bytes % kPieceBytes == 0 &&
           shape.n * shape.element_bytes % kPieceBytes == 0 &&
           shape.tile * shape.element_bytes % kPieceBytes == 0;
}

template <class Element>
Kernel kernel_for(bool pieces) {
    return pieces ? transpose_pieces<Element> : transpose_elements<Element>;
}

Kernel kernel_of(const TransposeShape& shape) {
    const bool pieces = moves_pieces(shape);
    switch (shape.element_bytes) {
        case 1:
            return kernel_for<std::uint8_t>(pieces);
        case 2:
            return kernel_for<std::uint16_t>(pieces);
        default:
            return kernel_for<std::uint32_t>(pieces);
    }
}

std::int64_t shared_bytes(const TransposeShape& shape) {
    return std::int64_t{shape.tile} * (shape.tile + 1) * shape.element_bytes;  // transpose.lua
}

void allow_shared(const TransposeShape& shape) {
    check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel_of(shape)),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes(shape))),
               "asking for the transpose kernel's shared memory");
}

}  // namespace

void check_transpose(const TransposeShape& shape) {
    check_tile_counts("transpose", (shape.m + shape.tile - 1) / shape.tile,
                      (shape.n + shape.tile - 1) / shape.tile);
    if (shared_bytes(shape) > kMostSharedMemory) throw BadInput("transpose: a tile must fit shared memory");
}

int transpose_ctas_per_sm(const TransposeShape& shape) {
    allow_shared(shape);
    int ctas = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                   &ctas, reinterpret_cast<const void*>(kernel_of(shape)), kThreads,
                   static_cast<std::size_t>(shared_bytes(shape))),
               "asking for the transpose kernel's occupancy");
    return ctas;
}

void launch_transpose(const TransposeShape& shape, const void* a, void* b, const LaunchPlan& plan) {
    check_transpose(shape);
    reset_tile_counter(plan);
    allow_shared(shape);
    kernel_of(shape)<<<tile_ctas(plan), kThreads, static_cast<std::size_t>(shared_bytes(shape)),
                       static_cast<cudaStream_t>(plan.stream)>>>(
        Transposition{a, b, shape.m, shape.n, shape.tile, tile_list(plan)});
    check_launch("transpose");
}

}  // namespace l2lens::gpu
