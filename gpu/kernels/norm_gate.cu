// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/kernels/norm_gate.hpp"
#include "gpu/kernels/pieces.cuh"
#include "gpu/kernels/tile_loop.cuh"

namespace l2lens::gpu {
namespace {

constexpr int kMostWarps = 16;

enum class Stage { Both, Norm, Gate };

struct NormGateArgs {
    const uint4* h;
    const float* n;
    const uint4* g;
    uint4* out;
    std::int64_t rows;
    int row_pieces;
    int block;
    TileList list;
};

__device__ void normalise(float (&x)[kPieceElements], float n) {
    const float factor = 1.0f / fmaxf(fabsf(n), 1.0f);
#pragma unroll
    for (float& value : x) value *= factor;
}

__device__ void gate(float (&x)[kPieceElements], const uint4& gates) {
    float g[kPieceElements];
    unpack_piece(gates, g);
#pragma unroll
    for (int i = 0; i < kPieceElements; ++i) x[i] *= __fdividef(1.0f, 1.0f + exp2_fast(-g[i] * kLog2E));
}

// A batch is loaded before any of it is used, so that its loads are in flight together.
template <Stage Part>
__global__ void __launch_bounds__(kMostWarps * 32, 3)
    norm_gate_kernel(const __grid_constant__ NormGateArgs args) {
    constexpr int kBatch = 2;
    for_each_tile(args.list, [&](std::int64_t block, std::int64_t) {
        const std::int64_t first_row = block * args.block;
        const auto rows = static_cast<int>(min(std::int64_t{args.block}, args.rows - first_row));
        const int pieces = rows * args.row_pieces;
        const std::int64_t base = first_row * args.row_pieces;
        const auto threads = static_cast<int>(blockDim.x);
        for (int i = static_cast<int>(threadIdx.x); i < pieces; i += kBatch * threads) {
            uint4 h[kBatch];
            uint4 g[kBatch];
            float n[kBatch];
#pragma unroll
            for (int j = 0; j < kBatch; ++j) {
                const int at = i + j * threads;
                if (at >= pieces) continue;
                h[j] = args.h[base + at];
                if (Part != Stage::Norm) g[j] = args.g[base + at];
                if (Part != Stage::Gate) n[j] = args.n[first_row + at / args.row_pieces];
            }
#pragma unroll
            for (int j = 0; j < kBatch; ++j) {
                const int at = i + j * threads;
                if (at >= pieces) continue;
                float x[kPieceElements];
                unpack_piece(h[j], x);
                if (Part != Stage::Gate) normalise(x, n[j]);
                if (Part != Stage::Norm) gate(x, g[j]);
                args.out[base + at] = pack_piece(x);
            }
        }
    });
}

template <Stage Part>
void launch_stage(const NormGateShape& shape, const NormGateOperands& operands, const void* in, void* out,
                  const LaunchPlan& plan) {
    reset_tile_counter(plan);
    norm_gate_kernel<Part><<<tile_ctas(plan), shape.warps * 32, 0, static_cast<cudaStream_t>(plan.stream)>>>(
        {static_cast<const uint4*>(in), operands.n, static_cast<const uint4*>(operands.g),
         static_cast<uint4*>(out), shape.rows, static_cast<int>(shape.dim / kPieceElements), shape.block,
         tile_list(plan)});
    check_launch("norm_gate");
}

}  // namespace

void check_norm_gate(const NormGateShape& shape) {
    check_tile_counts("norm_gate", shape.tile_rows(), 1);
    if (shape.warps > kMostWarps)
        throw BadInput("norm_gate on the GPU takes at most 16 warps, not " + std::to_string(shape.warps));
    if (shape.dim % kPieceElements != 0)
        throw BadInput("norm_gate on the GPU needs rows of a multiple of 8 elements (16 B), not dim=" +
                       std::to_string(shape.dim));
    constexpr std::int64_t kMostPieces = std::int64_t{1} << 30;
    if (shape.dim / kPieceElements > kMostPieces / shape.block)
        throw BadInput("norm_gate on the GPU: a block of rows must hold fewer than 2^33 elements");
}

int norm_gate_ctas_per_sm(const NormGateShape& shape) {
    const void* kernel = shape.fused ? reinterpret_cast<const void*>(norm_gate_kernel<Stage::Both>)
                                     : reinterpret_cast<const void*>(norm_gate_kernel<Stage::Norm>);
    int ctas = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, kernel, shape.warps * 32, 0),
               "asking for the occupancy");
    return ctas;
}

void launch_norm_gate(const NormGateShape& shape, const NormGateOperands& operands, const LaunchPlan& plan) {
    check_norm_gate(shape);
    if (shape.fused) return launch_stage<Stage::Both>(shape, operands, operands.h, operands.o, plan);
    launch_stage<Stage::Norm>(shape, operands, operands.h, operands.t, plan);
    launch_stage<Stage::Gate>(shape, operands, operands.t, operands.o, plan);
}

}  // namespace l2lens::gpu
