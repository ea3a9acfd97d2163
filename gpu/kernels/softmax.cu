// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/row_kernel.cuh"
#include "gpu/kernels/softmax.hpp"

namespace l2lens::gpu {
namespace {

struct SoftmaxArgs {
    const uint4* x;
    uint4* y;
    RowPieces row;
    TileList list;
};

__device__ float max_of_piece(const uint4& piece, float most) {
    float x[kPieceElements];
    unpack_piece(piece, x);
#pragma unroll
    for (const float value : x) most = fmaxf(most, value);
    return most;
}

// To base 2: exp(x - most) is 2^(x log2(e) - shift).
__device__ float exponentials_of_piece(const uint4& piece, float shift) {
    float x[kPieceElements];
    unpack_piece(piece, x);
    float sum = 0;
#pragma unroll
    for (const float value : x) sum += exp2_fast(fmaf(value, kLog2E, -shift));
    return sum;
}

__device__ uint4 normalised_piece(const uint4& piece, float shift, float factor) {
    float x[kPieceElements];
    unpack_piece(piece, x);
#pragma unroll
    for (float& value : x) value = exp2_fast(fmaf(value, kLog2E, -shift)) * factor;
    return pack_piece(x);
}

// The row in registers.
template <int Warps, int Held>
__global__ void __launch_bounds__(Warps * 32, row_ctas(Warps, Held))
    softmax_held(const __grid_constant__ SoftmaxArgs args) {
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
        float most = -INFINITY;
#pragma unroll
        for (int i = 0; i < Held; ++i)
            if (thread + i * kThreads < pieces) most = max_of_piece(held[i], most);
        const float shift = max_of_cta(most) * kLog2E;
        float sum = 0;
#pragma unroll
        for (int i = 0; i < Held; ++i)
            if (thread + i * kThreads < pieces) sum += exponentials_of_piece(held[i], shift);
        const float factor = 1.0f / sum_of_cta(sum);
#pragma unroll
        for (int i = 0; i < Held; ++i)
            if (thread + i * kThreads < pieces) out[i * kThreads] = normalised_piece(held[i], shift, factor);
    });
}

// A row's maximum and its sum of exponentials below it, both from one read of the row: each thread's sum is
// rescaled when its maximum grows, and once more to the CTA's maximum.
__device__ void online_max_and_sum(const uint4* row, PieceRange all, float& shift, float& sum) {
    float most = -INFINITY;
    float mine = 0;
    for_each_piece(row, all, [&](std::int64_t, const uint4& piece) {
        const float grown = max_of_piece(piece, most);
        mine = mine * exp2_fast((most - grown) * kLog2E) + exponentials_of_piece(piece, grown * kLog2E);
        most = grown;
    });
    const float of_row = max_of_cta(most);
    shift = of_row * kLog2E;
    sum = sum_of_cta(mine * exp2_fast((most - of_row) * kLog2E));
}

__device__ void max_then_sum(const uint4* row, PieceRange all, float& shift, float& sum) {
    float most = -INFINITY;
    for_each_piece(row, all, [&](std::int64_t, const uint4& piece) { most = max_of_piece(piece, most); });
    shift = max_of_cta(most) * kLog2E;
    float mine = 0;
    for_each_piece(row, all,
                   [&](std::int64_t, const uint4& piece) { mine += exponentials_of_piece(piece, shift); });
    sum = sum_of_cta(mine);
}

// The row read again for each pass.
template <int Warps, int Passes>
__global__ void __launch_bounds__(Warps * 32, row_ctas(Warps, 0))
    softmax_passes(const __grid_constant__ SoftmaxArgs args) {
    for_each_tile(args.list, [&](std::int64_t row, std::int64_t chunk) {
        const uint4* in = args.x + row * args.row.row;
        uint4* out = args.y + row * args.row.row;
        const PieceRange all{0, args.row.row};
        float shift = 0;
        float sum = 0;
        if (Passes == 2)
            online_max_and_sum(in, all, shift, sum);
        else
            max_then_sum(in, all, shift, sum);
        const float factor = 1.0f / sum;
        for_each_piece(in, chunk_of(args.row, chunk), [&](std::int64_t i, const uint4& piece) {
            out[i] = normalised_piece(piece, shift, factor);
        });
    });
}

using Kernel = void (*)(SoftmaxArgs);

template <int Warps, int Held>
struct SoftmaxFamily {
    static Kernel kernel() { return softmax_held<Warps, Held>; }
    static Kernel of_passes(int passes) {
        return passes == 2 ? softmax_passes<Warps, 2> : softmax_passes<Warps, 3>;
    }
};

}  // namespace

void check_softmax(const RowShape& shape) {
    check_rows("softmax", shape);
}

int softmax_ctas_per_sm(const RowShape& shape) {
    return row_ctas_per_sm(kernel_of<SoftmaxFamily>(shape), shape);
}

void launch_softmax(const RowShape& shape, const void* x, void* y, const LaunchPlan& plan) {
    check_softmax(shape);
    reset_tile_counter(plan);
    kernel_of<SoftmaxFamily>(
        shape)<<<tile_ctas(plan), shape.warps * 32, 0, static_cast<cudaStream_t>(plan.stream)>>>(
        {static_cast<const uint4*>(x), static_cast<uint4*>(y), pieces_of(shape), tile_list(plan)});
    check_launch("softmax");
}

}  // namespace l2lens::gpu
