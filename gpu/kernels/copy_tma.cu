// SPDX-License-Identifier: Apache-2.0
// copy with the copy engine both ways: a box into shared memory, the same box out.
#include "gpu/cuda_check.hpp"
#include "gpu/kernels/copy.hpp"
#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/tensor_map.hpp"
#include "gpu/kernels/tile_loop.cuh"

namespace l2lens::gpu {
namespace {

constexpr int kThreads = 128;    // copy.lua: warps = 4
constexpr int kAlignment = 128;  // of a box in shared memory

struct CopyArgs {
    CUtensorMap a, b;
    std::int32_t bm, bn, bytes;
    TileList list;
};

__global__ void __launch_bounds__(kThreads) tma_copy_kernel(const __grid_constant__ CopyArgs args) {
    extern __shared__ __align__(kAlignment) char box[];
    __shared__ std::uint64_t barrier;
    const std::uint32_t arrived = hopper::shared_address(&barrier);
    if (threadIdx.x == 0) {
        hopper::barrier_init(arrived, 1);
        hopper::async_proxy_fence();
    }
    std::uint32_t parity = 0;
    for_each_tile(args.list, [&](std::int32_t row, std::int32_t column) {
        if (threadIdx.x != 0) return;
        const std::uint32_t at = hopper::shared_address(box);
        hopper::barrier_expect_bytes(arrived, static_cast<std::uint32_t>(args.bytes));
        hopper::load_box(&args.a, at, arrived, column * args.bn, row * args.bm);
        hopper::barrier_wait(arrived, parity);
        parity ^= 1;
        hopper::async_proxy_fence();
        hopper::store_box(&args.b, at, column * args.bn, row * args.bm);
        hopper::store_commit();
        hopper::store_wait_read<0>();
    });
}

std::size_t shared_bytes(const CopyShape& shape) {
    return static_cast<std::size_t>(shape.bm) * static_cast<std::size_t>(shape.bn) *
           static_cast<std::size_t>(shape.element_bytes);
}

void allow_shared(const CopyShape& shape) {
    check_cuda(cudaFuncSetAttribute(tma_copy_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(shared_bytes(shape))),
               "asking for the copy kernel's shared memory");
}

}  // namespace

int tma_copy_ctas_per_sm(const CopyShape& shape) {
    allow_shared(shape);
    int ctas = 0;
    check_cuda(
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&ctas, tma_copy_kernel, kThreads, shared_bytes(shape)),
        "asking for the copy kernel's occupancy");
    return ctas;
}

void launch_tma_copy(const CopyShape& shape, const void* a, void* b, const LaunchPlan& plan) {
    allow_shared(shape);
    CopyArgs args{};
    args.a = plain_map(a, shape.m, shape.n, shape.element_bytes, shape.bm, shape.bn);
    args.b = plain_map(b, shape.m, shape.n, shape.element_bytes, shape.bm, shape.bn);
    args.bm = shape.bm;
    args.bn = shape.bn;
    args.bytes = static_cast<std::int32_t>(shared_bytes(shape));
    args.list = tile_list(plan);
    tma_copy_kernel<<<tile_ctas(plan), kThreads, shared_bytes(shape),
                      static_cast<cudaStream_t>(plan.stream)>>>(args);
    check_launch("copy through the copy engine");
}

}  // namespace l2lens::gpu
