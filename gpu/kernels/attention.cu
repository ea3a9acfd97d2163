// SPDX-License-Identifier: Apache-2.0
// Picks the attention kernel of a shape, describes the operands to the copy engine, and launches.
#include <cmath>
#include <string>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/kernels/attention.hpp"
#include "gpu/kernels/attention_kernel.cuh"
#include "gpu/kernels/tensor_map.hpp"
#include "gpu/kernels/tile_loop.cuh"

namespace l2lens::gpu {
namespace {

constexpr std::int64_t kMostSharedMemory =
    227 * 1024;  // of a CTA, compute capability 9.0 (CUDA C++ Programming Guide)

using Kernel = void (*)(AttentionArgs);

struct AttentionVariant {
    int dim, bk;
    Kernel kernel;
    std::int64_t (*shared_bytes)(int stages);
};

template <int D, int BK>
constexpr AttentionVariant variant() {
    return {D, BK, attention_kernel<D, BK>, [](int stages) { return AttentionLayout<D, BK>::bytes(stages); }};
}

const AttentionVariant* find_variant(const AttentionShape& shape) {
    static const AttentionVariant all[] = {variant<128, 128>(), variant<128, 64>(), variant<64, 128>(),
                                           variant<64, 64>()};
    for (const AttentionVariant& v : all)
        if (v.dim == shape.dim && v.bk == shape.bk) return &v;
    return nullptr;
}

void allow_shared_memory(const AttentionShape& shape) {
    check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(find_variant(shape)->kernel),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(attention_shared_memory(shape))),
               "asking for the attention kernel's shared memory");
}

AttentionArgs make_args(const AttentionShape& shape, const AttentionOperands& operands,
                        const LaunchPlan& plan) {
    constexpr double kLog2E = 1.4426950408889634;
    const std::int64_t heads = shape.tile_rows();
    const std::int64_t kv_heads = std::int64_t{shape.batch} * shape.kv_heads;
    AttentionArgs args{};
    args.q = plane_map(operands.q, heads, shape.seq, shape.dim, shape.bq);
    args.k = plane_map(operands.k, kv_heads, shape.seq, shape.dim, shape.bk);
    args.v = plane_map(operands.v, kv_heads, shape.seq, shape.dim, shape.bk);
    args.o = plane_map(operands.o, heads, shape.seq, shape.dim, shape.bq / kAttentionGroups);
    args.lse = operands.lse;
    args.work = {plan.order, static_cast<std::int32_t>(plan.launches), plan.mode, plan.counter, plan.records};
    args.heads = shape.heads;
    args.queries_per_kv = shape.heads / shape.kv_heads;
    args.seq = static_cast<std::int32_t>(shape.seq);
    args.stages = shape.stages;
    args.causal = shape.causal;
    args.last_column = shape.longest_first ? static_cast<std::int32_t>(shape.tile_columns()) - 1 : -1;
    args.scale = static_cast<float>(kLog2E / std::sqrt(shape.dim));
    return args;
}

}  // namespace

void check_attention(const AttentionShape& shape) {
    if (shape.bq != kAttentionBq)
        throw BadInput("attention on the GPU has bq=128 only (64 queries a warpgroup), not bq=" +
                       std::to_string(shape.bq));
    if (!find_variant(shape))
        throw BadInput("attention on the GPU has dim=64 and 128 with bk=64 and 128, not dim=" +
                       std::to_string(shape.dim) + " with bk=" + std::to_string(shape.bk));
    if (shape.heads % shape.kv_heads != 0)
        throw BadInput("attention: " + std::to_string(shape.heads) + " heads cannot share " +
                       std::to_string(shape.kv_heads) + " heads of K and V evenly");
    check_tile_counts("attention", shape.tile_rows(), shape.tile_columns());
    const std::int64_t bytes = find_variant(shape)->shared_bytes(shape.stages);
    if (shape.stages < 2 || shape.stages > kMostAttentionStages || bytes > kMostSharedMemory)
        throw BadInput("attention on the GPU takes 2 to 4 stages that fit 227 KiB; " +
                       std::to_string(shape.stages) + " stages of this tile need " +
                       std::to_string(bytes / 1024) + " KiB");
}

std::int64_t attention_shared_memory(const AttentionShape& shape) {
    check_attention(shape);
    return find_variant(shape)->shared_bytes(shape.stages);
}

int attention_ctas_per_sm(const AttentionShape& shape) {
    const auto bytes = static_cast<std::size_t>(attention_shared_memory(shape));
    allow_shared_memory(shape);
    int ctas = 0;
    check_cuda(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(
            &ctas, reinterpret_cast<const void*>(find_variant(shape)->kernel), kAttentionThreads, bytes),
        "asking for the attention kernel's occupancy");
    return ctas;
}

void launch_attention(const AttentionShape& shape, const AttentionOperands& operands,
                      const LaunchPlan& plan) {
    const auto bytes = static_cast<std::size_t>(attention_shared_memory(shape));
    allow_shared_memory(shape);
    reset_tile_counter(plan);
    find_variant(shape)
        ->kernel<<<tile_ctas(plan), kAttentionThreads, bytes, static_cast<cudaStream_t>(plan.stream)>>>(
            make_args(shape, operands, plan));
    check_launch("attention");
}

}  // namespace l2lens::gpu
