// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/layernorm.hpp"
#include "gpu/kernels/row_kernel.cuh"

namespace l2lens::gpu {
namespace {

struct LayernormArgs {
    const uint4* x;
    const uint4* w;
    const uint4* b;
    uint4* y;
    float* mean;
    float* rstd;
    RowPieces row;
    TileList list;
};

struct Moments {
    float mean, rstd;
};

__device__ float elements_of(const RowPieces& row) {
    return static_cast<float>(row.row * kPieceElements);
}

__device__ float sum_of_piece(const uint4& piece) {
    float x[kPieceElements];
    unpack_piece(piece, x);
    float sum = 0;
#pragma unroll
    for (const float value : x) sum += value;
    return sum;
}

__device__ float squares_of_piece(const uint4& piece, float mean) {
    float x[kPieceElements];
    unpack_piece(piece, x);
    float sum = 0;
#pragma unroll
    for (const float value : x) sum = fmaf(value - mean, value - mean, sum);
    return sum;
}

__device__ float rstd_of(float squares, const RowPieces& row) {
    return rsqrtf(squares / elements_of(row) + kLayernormEpsilon);
}

__device__ uint4 applied_piece(const uint4& piece, const uint4& weights, const uint4& biases,
                               const Moments& moments) {
    float x[kPieceElements];
    float w[kPieceElements];
    float b[kPieceElements];
    unpack_piece(piece, x);
    unpack_piece(weights, w);
    unpack_piece(biases, b);
#pragma unroll
    for (int i = 0; i < kPieceElements; ++i) x[i] = fmaf((x[i] - moments.mean) * moments.rstd, w[i], b[i]);
    return pack_piece(x);
}

__device__ void store_moments(const LayernormArgs& args, std::int64_t row, const Moments& moments) {
    if (threadIdx.x != 0) return;
    args.mean[row] = moments.mean;
    args.rstd[row] = moments.rstd;
}

// The row in registers.
template <int Warps, int Held>
__global__ void __launch_bounds__(Warps * 32, row_ctas(Warps, Held))
    layernorm_held(const __grid_constant__ LayernormArgs args) {
    constexpr int kThreads = Warps * 32;
    const auto pieces = static_cast<int>(args.row.row);
    const auto thread = static_cast<int>(threadIdx.x);
    for_each_tile(args.list, [&](std::int64_t row, std::int64_t) {
        const uint4* in = args.x + row * pieces + thread;
        uint4* out = args.y + row * pieces + thread;
        uint4 held[Held];
#pragma unroll
        for (int i = 0; i < Held; ++i)
            if (thread + i * kThreads < pieces) held[i] = in[i * kThreads];
        float sum = 0;
#pragma unroll
        for (int i = 0; i < Held; ++i)
            if (thread + i * kThreads < pieces) sum += sum_of_piece(held[i]);
        Moments moments{};
        moments.mean = sum_of_cta(sum) / elements_of(args.row);
        float squares = 0;
#pragma unroll
        for (int i = 0; i < Held; ++i)
            if (thread + i * kThreads < pieces) squares += squares_of_piece(held[i], moments.mean);
        moments.rstd = rstd_of(sum_of_cta(squares), args.row);
        store_moments(args, row, moments);
#pragma unroll
        for (int i = 0; i < Held; ++i)
            if (thread + i * kThreads < pieces)
                out[i * kThreads] = applied_piece(held[i], args.w[thread + i * kThreads],
                                                  args.b[thread + i * kThreads], moments);
    });
}

__device__ Moments moments_at_once(const uint4* row, const RowPieces& extent) {
    float sum = 0;
    float squares = 0;
    for_each_piece(row, {0, extent.row}, [&](std::int64_t, const uint4& piece) {
        sum += sum_of_piece(piece);
        squares += squares_of_piece(piece, 0);
    });
    const float mean = sum_of_cta(sum) / elements_of(extent);
    const float around_zero = sum_of_cta(squares);
    return {mean, rstd_of(fmaxf(0.0f, around_zero - mean * mean * elements_of(extent)), extent)};
}

__device__ Moments moments_one_by_one(const uint4* row, const RowPieces& extent) {
    const PieceRange all{0, extent.row};
    float sum = 0;
    for_each_piece(row, all, [&](std::int64_t, const uint4& piece) { sum += sum_of_piece(piece); });
    const float mean = sum_of_cta(sum) / elements_of(extent);
    float squares = 0;
    for_each_piece(row, all,
                   [&](std::int64_t, const uint4& piece) { squares += squares_of_piece(piece, mean); });
    return {mean, rstd_of(sum_of_cta(squares), extent)};
}

// The row read again for each pass.
template <int Warps, int Passes>
__global__ void __launch_bounds__(Warps * 32, row_ctas(Warps, 0))
    layernorm_passes(const __grid_constant__ LayernormArgs args) {
    for_each_tile(args.list, [&](std::int64_t row, std::int64_t chunk) {
        const uint4* in = args.x + row * args.row.row;
        uint4* out = args.y + row * args.row.row;
        const Moments moments =
            Passes == 2 ? moments_at_once(in, args.row) : moments_one_by_one(in, args.row);
        if (chunk == 0) store_moments(args, row, moments);
        for_each_piece(in, chunk_of(args.row, chunk), [&](std::int64_t i, const uint4& piece) {
            out[i] = applied_piece(piece, args.w[i], args.b[i], moments);
        });
    });
}

using Kernel = void (*)(LayernormArgs);

template <int Warps, int Held>
struct LayernormFamily {
    static Kernel kernel() { return layernorm_held<Warps, Held>; }
    static Kernel of_passes(int passes) {
        return passes == 2 ? layernorm_passes<Warps, 2> : layernorm_passes<Warps, 3>;
    }
};

}  // namespace

void check_layernorm(const RowShape& shape) {
    check_rows("layernorm", shape);
}

int layernorm_ctas_per_sm(const RowShape& shape) {
    return row_ctas_per_sm(kernel_of<LayernormFamily>(shape), shape);
}

void launch_layernorm(const RowShape& shape, const LayernormOperands& operands, const LaunchPlan& plan) {
    check_layernorm(shape);
    reset_tile_counter(plan);
    const LayernormArgs args{static_cast<const uint4*>(operands.x),
                             static_cast<const uint4*>(operands.w),
                             static_cast<const uint4*>(operands.b),
                             static_cast<uint4*>(operands.y),
                             operands.mean,
                             operands.rstd,
                             pieces_of(shape),
                             tile_list(plan)};
    kernel_of<LayernormFamily>(
        shape)<<<tile_ctas(plan), shape.warps * 32, 0, static_cast<cudaStream_t>(plan.stream)>>>(args);
    check_launch("layernorm");
}

}  // namespace l2lens::gpu
