// SPDX-License-Identifier: Apache-2.0
// Picks the GEMM kernel of a shape, describes the operands to the copy engine, and launches.
#include <array>
#include <string>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/kernels/gemm.hpp"
#include "gpu/kernels/gemm_kernel.cuh"
#include "gpu/kernels/tensor_map.hpp"

namespace l2lens::gpu {
namespace {

constexpr std::int64_t kMostSharedMemory =
    227 * 1024;  // of a CTA, compute capability 9.0 (CUDA C++ Programming Guide)

using KernelPointer = void (*)(GemmArgs);

// One compiled tile shape, in its four layouts.
struct GemmVariant {
    int bm, bn, warps;
    std::array<KernelPointer, 4> kernels;  // [a_k_major][b_k_major]
    std::int64_t (*shared_bytes)(int stages);
};

template <int BM, int BN, int WarpGroups>
GemmVariant variant() {
    return {BM,
            BN,
            WarpGroups * 4,
            {gemm_kernel<BM, BN, WarpGroups, false, false>, gemm_kernel<BM, BN, WarpGroups, false, true>,
             gemm_kernel<BM, BN, WarpGroups, true, false>, gemm_kernel<BM, BN, WarpGroups, true, true>},
            [](int stages) { return GemmLayout<BM, BN, WarpGroups>::bytes(stages); }};
}

const std::array<GemmVariant, 6>& variants() {
    static const std::array<GemmVariant, 6> all{variant<128, 128, 2>(), variant<128, 128, 1>(),
                                                variant<128, 256, 2>(), variant<256, 128, 2>(),
                                                variant<64, 128, 1>(),  variant<64, 64, 1>()};
    return all;
}

const GemmVariant* find_variant(const GemmShape& shape) {
    for (const GemmVariant& v : variants())
        if (v.bm == shape.bm && v.bn == shape.bn && v.warps == shape.warps) return &v;
    return nullptr;
}

std::string list_variants() {
    std::string text;
    for (const GemmVariant& v : variants()) {
        if (!text.empty()) text += ", ";
        text += "bm=" + std::to_string(v.bm) + " bn=" + std::to_string(v.bn) +
                " warps=" + std::to_string(v.warps);
    }
    return text;
}

KernelPointer kernel_of(const GemmShape& shape) {
    return find_variant(shape)->kernels[static_cast<std::size_t>(shape.a_k_major * 2 + shape.b_k_major)];
}

// Rows of a box: an operand contiguous along k is cut along its rows, one contiguous along m or n along k.
int box_rows(int extent, bool k_major, bool shared) {
    return (k_major ? extent : kGemmBk) / (shared ? 2 : 1);
}

GemmArgs make_args(const GemmShape& shape, const GemmOperands& operands, const LaunchPlan& plan) {
    GemmArgs args{};
    args.share = shape.cluster_rows == 2 ? Share::B : shape.cluster_columns == 2 ? Share::A : Share::Nothing;
    args.a = shape.a_k_major
                 ? tile_map(operands.a, shape.m, shape.k, box_rows(shape.bm, true, args.share == Share::A))
                 : tile_map(operands.a, shape.k, shape.m, box_rows(shape.bm, false, args.share == Share::A));
    args.b = shape.b_k_major
                 ? tile_map(operands.b, shape.n, shape.k, box_rows(shape.bn, true, args.share == Share::B))
                 : tile_map(operands.b, shape.k, shape.n, box_rows(shape.bn, false, args.share == Share::B));
    args.c = tile_map(operands.c, shape.m, shape.n, kBlock);
    args.k_steps = static_cast<std::int32_t>((shape.k + kGemmBk - 1) / kGemmBk);
    args.stages = shape.stages;
    args.work = {plan.order, static_cast<std::int32_t>(plan.launches / shape.cluster()), plan.mode,
                 plan.counter, plan.records};
    return args;
}

void allow_shared_memory(const GemmShape& shape) {
    check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel_of(shape)),
                                    cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(gemm_shared_memory(shape))),
               "asking for the gemm kernel's shared memory");
}

}  // namespace

void check_gemm(const GemmShape& shape) {
    if (shape.bk != kGemmBk)
        throw BadInput("gemm on the GPU has bk=64 only (a 128 B swizzled row), not bk=" +
                       std::to_string(shape.bk));
    if (!find_variant(shape))
        throw BadInput("gemm on the GPU has no tile bm=" + std::to_string(shape.bm) +
                       " bn=" + std::to_string(shape.bn) + " warps=" + std::to_string(shape.warps) +
                       "; there are: " + list_variants());
    if (shape.m < 1 || shape.n < 1 || shape.k < 1) throw BadInput("gemm needs m, n and k of at least 1");
    const std::int64_t a_row = shape.a_k_major ? shape.k : shape.m;
    const std::int64_t b_row = shape.b_k_major ? shape.k : shape.n;
    if (a_row % 8 != 0 || b_row % 8 != 0 || shape.n % 8 != 0)
        throw BadInput(
            "gemm on the GPU needs rows of A, B and C that are multiples of 8 elements (16 B, a tensor map's "
            "stride); here they are " +
            std::to_string(a_row) + ", " + std::to_string(b_row) + " and " + std::to_string(shape.n));
    if (shape.tile_rows() > 0xFFFE || shape.tile_columns() > 0xFFFE)
        throw BadInput("gemm on the GPU takes at most 65534 tiles along an axis");
    if (shape.cluster_rows < 1 || shape.cluster_columns < 1 || shape.cluster() > 2)
        throw BadInput("gemm on the GPU runs in clusters of 1x1, 2x1 or 1x2 CTAs");
    const std::int64_t bytes = find_variant(shape)->shared_bytes(shape.stages);
    if (shape.stages < 2 || shape.stages > kMaxStages || bytes > kMostSharedMemory)
        throw BadInput("gemm on the GPU takes 2 to 12 stages that fit 227 KiB; " +
                       std::to_string(shape.stages) + " stages of this tile need " +
                       std::to_string(bytes / 1024) + " KiB");
}

int gemm_most_stages(const GemmShape& shape) {
    const GemmVariant* variant = find_variant(shape);
    int stages = 0;
    while (variant && stages < kMaxStages && variant->shared_bytes(stages + 1) <= kMostSharedMemory) ++stages;
    return stages;
}

std::int64_t gemm_shared_memory(const GemmShape& shape) {
    check_gemm(shape);
    return find_variant(shape)->shared_bytes(shape.stages);
}

int gemm_ctas_per_sm(const GemmShape& shape) {
    const auto bytes = static_cast<std::size_t>(gemm_shared_memory(shape));
    allow_shared_memory(shape);
    int ctas = 0;
    check_cuda(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                   &ctas, reinterpret_cast<const void*>(kernel_of(shape)), shape.warps * 32 + 32, bytes),
               "asking for the gemm kernel's occupancy");
    return ctas;
}

void launch_gemm(const GemmShape& shape, const GemmOperands& operands, const LaunchPlan& plan) {
    const auto bytes = static_cast<std::size_t>(gemm_shared_memory(shape));
    allow_shared_memory(shape);
    if (plan.launches % shape.cluster() != 0)
        throw BadInput("an order of " + std::to_string(plan.launches) +
                       " launch ids cannot be cut into clusters of 2");
    auto* stream = static_cast<cudaStream_t>(plan.stream);
    if (plan.mode == LaunchMode::Dynamic)
        check_cuda(cudaMemsetAsync(plan.counter, 0, sizeof(std::uint32_t), stream),
                   "resetting the tile counter");

    GemmArgs args = make_args(shape, operands, plan);
    const std::int64_t ctas = plan.mode == LaunchMode::Grid ? plan.launches : plan.persistent_ctas;
    cudaLaunchAttribute cluster{};
    cluster.id = cudaLaunchAttributeClusterDimension;
    cluster.val.clusterDim = {static_cast<unsigned>(shape.cluster()), 1, 1};
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(static_cast<unsigned>(ctas - ctas % shape.cluster()));
    config.blockDim = dim3(static_cast<unsigned>(shape.warps * 32 + 32));
    config.dynamicSmemBytes = bytes;
    config.stream = stream;
    config.attrs = &cluster;
    config.numAttrs = shape.cluster() > 1 ? 1 : 0;
    void* arguments[] = {&args};
    check_cuda(cudaLaunchKernelExC(&config, reinterpret_cast<const void*>(kernel_of(shape)), arguments),
               "launching gemm");
}

}  // namespace l2lens::gpu
