// SPDX-License-Identifier: Apache-2.0
// A tile and its halo go through shared memory, each element once: rows in pieces of 16 bytes where they are
// aligned, the halo left and right element by element. A thread then walks down a few columns, with
// the sum over the rows around its point in registers.
#include <string>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/kernels/stencil2d.hpp"
#include "gpu/kernels/tile_loop.cuh"

namespace l2lens::gpu {
namespace {

constexpr int kMostThreads = 256;
constexpr int kMargin = 4;  // columns before a staged row's tile: the halo, and 16-byte alignment
static_assert(kMostStencilRadius <= kMargin);

struct StencilArgs {
    const float* in;
    float* out;
    int m, n, bm, bn;
    float neighbour_weight;
    TileList list;
};

// The tile in shared memory: row -R is the first, column -R the first of the halo's.
template <int R>
struct StagedTile {
    float* data;
    int pitch;
    __device__ float* at(int row, int column) const { return data + (row + R) * pitch + column + kMargin; }
};

// `W` floats at once.
template <int W>
struct Piece;
template <>
struct Piece<1> {
    using Type = float;
};
template <>
struct Piece<4> {
    using Type = float4;
};

// Columns [0, bn) of rows [-R, bm + R): row after row for each warp, its lanes side by side.
template <int R, int W>
class RowStage {
public:
    using Load = typename Piece<W>::Type;
    static constexpr int kBatch = 5;  // rows of a tile with 32 of its own for each of eight warps

    __device__ RowStage(const StencilArgs& args, int first_row, int first_column)
        : args_(args),
          first_row_(first_row),
          first_column_(first_column),
          segments_((args.bn / W + 31) / 32),
          units_((args.bm + 2 * R) * segments_) {}

    __device__ int rounds() const { return (units_ + kBatch * warps() - 1) / (kBatch * warps()); }

    __device__ void load(int round) {
#pragma unroll
        for (int j = 0; j < kBatch; ++j) {
            batch_[j] = Load{};
            const int unit = unit_of(round, j);
            const int row = first_row_ + row_of(unit) - R;
            const int column = column_of(unit);
            if (unit < units_ && row >= 0 && row < args_.m && column < args_.bn &&
                first_column_ + column < args_.n)
                batch_[j] = *reinterpret_cast<const Load*>(args_.in + std::int64_t{row} * args_.n +
                                                           first_column_ + column);
        }
    }

    __device__ void store(int round, const StagedTile<R>& tile) const {
#pragma unroll
        for (int j = 0; j < kBatch; ++j) {
            const int unit = unit_of(round, j);
            const int column = column_of(unit);
            if (unit < units_ && column < args_.bn)
                *reinterpret_cast<Load*>(tile.at(row_of(unit) - R, column)) = batch_[j];
        }
    }

private:
    // A unit is the part of a row that a warp loads at once.
    __device__ static int warps() {
        return static_cast<int>(blockDim.x) / 32;
    }
    __device__ static int unit_of(int round, int j) {
        return static_cast<int>(threadIdx.x) / 32 + (round * kBatch + j) * warps();
    }
    __device__ int row_of(int unit) const {
        return segments_ == 1 ? unit : unit / segments_;
    }
    __device__ int column_of(int unit) const {
        const int segment = segments_ == 1 ? 0 : unit % segments_;
        return (segment * 32 + static_cast<int>(threadIdx.x) % 32) * W;
    }

    const StencilArgs& args_;
    int first_row_;
    int first_column_;
    int segments_;
    int units_;
    Load batch_[kBatch];
};

// Columns [-R, 0) and [bn, bn + R) of the tile's rows, and for a box of the R rows above and below.
template <int R, bool Box>
class SideStage {
public:
    static constexpr int kBatch = 2;

    __device__ SideStage(const StencilArgs& args, int first_row, int first_column)
        : args_(args),
          first_row_(first_row),
          first_column_(first_column),
          count_((args.bm + 2 * kAbove) * 2 * R) {}

    __device__ int rounds() const {
        const int each = kBatch * static_cast<int>(blockDim.x);
        return (count_ + each - 1) / each;
    }

    __device__ void load(int round) {
#pragma unroll
        for (int j = 0; j < kBatch; ++j) {
            batch_[j] = 0;
            const int i = index(round, j);
            const int row = first_row_ + row_of(i);
            const int column = first_column_ + column_of(i);
            if (i < count_ && row >= 0 && row < args_.m && column >= 0 && column < args_.n)
                batch_[j] = args_.in[std::int64_t{row} * args_.n + column];
        }
    }

    __device__ void store(int round, const StagedTile<R>& tile) const {
#pragma unroll
        for (int j = 0; j < kBatch; ++j)
            if (const int i = index(round, j); i < count_) *tile.at(row_of(i), column_of(i)) = batch_[j];
    }

private:
    static constexpr int kAbove = Box ? R : 0;
    __device__ static int index(int round, int j) {
        return static_cast<int>(threadIdx.x) + (round * kBatch + j) * static_cast<int>(blockDim.x);
    }
    __device__ static int row_of(int i) {
        return i / (2 * R) - kAbove;
    }
    __device__ int column_of(int i) const {
        const int side = i % (2 * R);
        return side < R ? side - R : args_.bn + side - R;
    }

    const StencilArgs& args_;
    int first_row_;
    int first_column_;
    int count_;
    float batch_[kBatch];
};

// All of a round's loads are in flight before any of them is staged; a tile of the usual size takes one.
template <int R, bool Box, int Wide>
__device__ void stage_tile(const StencilArgs& args, const StagedTile<R>& tile, int first_row,
                           int first_column) {
    RowStage<R, Wide> rows(args, first_row, first_column);
    SideStage<R, Box> sides(args, first_row, first_column);
    const int rounds = max(rows.rounds(), sides.rounds());
    for (int round = 0; round < rounds; ++round) {
        sides.load(round);
        rows.load(round);
        rows.store(round, tile);
        sides.store(round, tile);
    }
}

// W columns of a row from x on.
template <int R, int W>
__device__ void load_columns(const StagedTile<R>& tile, int row, int x, float (&v)[W]) {
    *reinterpret_cast<typename Piece<W>::Type*>(v) =
        *reinterpret_cast<const typename Piece<W>::Type*>(tile.at(row, x));
}

// For W columns, the sum of the R columns left and the R right of each; `v` is the columns themselves.
template <int R, int W>
__device__ void sum_sides(const StagedTile<R>& tile, int row, int x, const float (&v)[W], float (&sum)[W]) {
    constexpr int kGroups = (R + W - 1) / W;  // of W columns, on each side
    float all[(2 * kGroups + 1) * W];
#pragma unroll
    for (int group = 0; group <= 2 * kGroups; ++group) {
        alignas(16) float part[W];
        if (group != kGroups) load_columns<R, W>(tile, row, x + (group - kGroups) * W, part);
#pragma unroll
        for (int c = 0; c < W; ++c) all[group * W + c] = group == kGroups ? v[c] : part[c];
    }
#pragma unroll
    for (int c = 0; c < W; ++c) {
        const int self = kGroups * W + c;
        sum[c] = 0;
#pragma unroll
        for (int d = 1; d <= R; ++d) sum[c] += all[self - d] + all[self + d];
    }
}

// What a point needs of each row around it: of a star the point's own column, of a box the sum of 2 R + 1.
template <int R, bool Box, int W>
__device__ void contribution(const StagedTile<R>& tile, int row, int x, float (&of_row)[W]) {
    alignas(16) float v[W];
    load_columns<R, W>(tile, row, x, v);
    if constexpr (Box) {
        sum_sides<R, W>(tile, row, x, v, of_row);
#pragma unroll
        for (int c = 0; c < W; ++c) of_row[c] += v[c];
    } else {
#pragma unroll
        for (int c = 0; c < W; ++c) of_row[c] = v[c];
    }
}

// W points from the contributions of the 2 R + 1 rows around them, added up in `around`.
template <int R, bool Box, int W>
__device__ void compute_points(const StencilArgs& args, const StagedTile<R>& tile, int row, int x,
                               const float (&around)[W], float (&result)[W]) {
    alignas(16) float self[W];
    float sides[W] = {};
    load_columns<R, W>(tile, row, x, self);
    if constexpr (!Box) sum_sides<R, W>(tile, row, x, self, sides);
#pragma unroll
    for (int c = 0; c < W; ++c)
        result[c] = fmaf(args.neighbour_weight, around[c] - self[c] + sides[c], 0.5f * self[c]);
}

// sum += sign * the contribution of a row.
template <int R, bool Box, int W>
__device__ void add_row(const StagedTile<R>& tile, int row, int x, float sign, float (&sum)[W]) {
    float of_row[W];
    contribution<R, Box, W>(tile, row, x, of_row);
#pragma unroll
    for (int c = 0; c < W; ++c) sum[c] = fmaf(sign, of_row[c], sum[c]);
}

// A thread takes W columns of the tile, or with more threads than that a stretch of them. Walking down, the
// row that comes into reach is added to the sum around the point and the one that leaves it taken off, so
// that the sum costs the same for each radius; within a tile's few rows that loses no digits to speak of.
template <int R, bool Box, int W>
__device__ void sweep_tile(const StencilArgs& args, const StagedTile<R>& tile, int first_row,
                           int first_column) {
    const int across = args.bn / W;
    const int stretches = max(1, static_cast<int>(blockDim.x) / across);
    const int rows = (args.bm + stretches - 1) / stretches;
    const int rows_left = min(args.m - first_row, args.bm);
    for (int i = static_cast<int>(threadIdx.x); i < stretches * across; i += static_cast<int>(blockDim.x)) {
        const int x = i % across * W;
        const int begin = i / across * rows;
        const int end = min(begin + rows, rows_left);
        if (begin >= end || first_column + x >= args.n) continue;
        float around[W] = {};
#pragma unroll
        for (int d = -R; d <= R; ++d) add_row<R, Box, W>(tile, begin + d, x, 1.0f, around);
        float* out = args.out + std::int64_t{first_row + begin} * args.n + first_column + x;
        for (int row = begin; row < end; ++row, out += args.n) {
            alignas(16) float result[W];
            compute_points<R, Box, W>(args, tile, row, x, around, result);
            *reinterpret_cast<typename Piece<W>::Type*>(out) =
                *reinterpret_cast<const typename Piece<W>::Type*>(result);
            if (row + 1 == end) break;
            add_row<R, Box, W>(tile, row - R, x, -1.0f, around);
            add_row<R, Box, W>(tile, row + 1 + R, x, 1.0f, around);
        }
    }
}

// CTAs of an SM that a kernel is compiled for: as many as its registers allow without a spill.
constexpr int kCtas = 5;

// Wide: 4 where rows are aligned to 16 bytes, else 1.
template <int R, bool Box, int Wide>
__global__ void __launch_bounds__(kMostThreads, kCtas)
    stencil_kernel(const __grid_constant__ StencilArgs args) {
    extern __shared__ __align__(16) float staged[];
    const StagedTile<R> tile{staged, args.bn + 2 * kMargin};
    for_each_tile(args.list, [&](int tile_row, int tile_column) {
        const int first_row = tile_row * args.bm;
        const int first_column = tile_column * args.bn;
        stage_tile<R, Box, Wide>(args, tile, first_row, first_column);
        __syncthreads();
        sweep_tile<R, Box, Wide>(args, tile, first_row, first_column);
    });
}

using Kernel = void (*)(StencilArgs);

template <int R>
Kernel kernel_of_radius(const StencilShape& shape) {
    const bool wide = shape.n % 4 == 0 && shape.bn % 4 == 0;
    if (shape.box) return wide ? stencil_kernel<R, true, 4> : stencil_kernel<R, true, 1>;
    return wide ? stencil_kernel<R, false, 4> : stencil_kernel<R, false, 1>;
}

Kernel kernel_of(const StencilShape& shape) {
    switch (shape.radius) {
        case 1:
            return kernel_of_radius<1>(shape);
        case 2:
            return kernel_of_radius<2>(shape);
        case 3:
            return kernel_of_radius<3>(shape);
        default:
            return kernel_of_radius<4>(shape);
    }
}

// Rows of the tile with kMargin columns on each side, so that every row's tile starts at 16 bytes.
std::int64_t shared_bytes(const StencilShape& shape) {
    return (std::int64_t{shape.bm} + 2 * shape.radius) * (std::int64_t{shape.bn} + 2 * kMargin) *
           static_cast<std::int64_t>(sizeof(float));
}

void allow_shared(const StencilShape& shape) {
    check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel_of(shape)),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes(shape))),
               "asking for the stencil kernel's shared memory");
}

}  // namespace

void check_stencil2d(const StencilShape& shape) {
    constexpr std::int64_t kMostSharedMemory = 226 * 1024;
    check_tile_counts("stencil2d", shape.tile_rows(), shape.tile_columns());
    constexpr std::int64_t kMostExtent = std::int64_t{1} << 30;
    if (shape.m > kMostExtent || shape.n > kMostExtent)
        throw BadInput("stencil2d on the GPU takes at most 2^30 rows and columns");
    if (shape.radius < 1 || shape.radius > kMostStencilRadius)
        throw BadInput("stencil2d on the GPU takes a radius of 1 to 4, not " + std::to_string(shape.radius));
    if (shape.warps < 1 || shape.warps * 32 > kMostThreads)
        throw BadInput("stencil2d on the GPU takes 1 to 8 warps, not " + std::to_string(shape.warps));
    if (shape.sweeps < 1) throw BadInput("stencil2d: sweeps must be at least 1");
    if (shared_bytes(shape) > kMostSharedMemory)
        throw BadInput("stencil2d: a tile with its halo must fit shared memory (226 KiB); it takes " +
                       std::to_string(shared_bytes(shape) / 1024) + " KiB");
}

int stencil2d_ctas_per_sm(const StencilShape& shape) {
    check_stencil2d(shape);
    allow_shared(shape);
    int ctas = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                   &ctas, reinterpret_cast<const void*>(kernel_of(shape)), shape.warps * 32,
                   static_cast<std::size_t>(shared_bytes(shape))),
               "asking for the stencil kernel's occupancy");
    return ctas;
}

void launch_stencil2d(const StencilShape& shape, float* a, float* b, const LaunchPlan& plan) {
    check_stencil2d(shape);
    allow_shared(shape);
    StencilArgs args{a,
                     b,
                     static_cast<int>(shape.m),
                     static_cast<int>(shape.n),
                     shape.bm,
                     shape.bn,
                     0.5f / static_cast<float>(shape.neighbours()),
                     tile_list(plan)};
    for (int sweep = 0; sweep < shape.sweeps; ++sweep) {
        args.in = sweep % 2 == 0 ? a : b;
        args.out = sweep % 2 == 0 ? b : a;
        reset_tile_counter(plan);
        kernel_of(shape)<<<tile_ctas(plan), shape.warps * 32, static_cast<std::size_t>(shared_bytes(shape)),
                           static_cast<cudaStream_t>(plan.stream)>>>(args);
        check_launch("stencil2d");
    }
}

}  // namespace l2lens::gpu
