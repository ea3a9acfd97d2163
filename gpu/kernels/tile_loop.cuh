// SPDX-License-Identifier: Apache-2.0
// The loop of a kernel whose CTAs take one tile at a time: grid, static or dynamic, with a record of each
// tile.
#pragma once

#include <cstdint>
#include <string>

#include <cuda_runtime.h>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/kernels/launch.hpp"
#ifdef __CUDACC__
#include "gpu/kernels/place_and_time.cuh"
#endif

namespace l2lens::gpu {

struct TileList {
    const std::uint32_t* order;
    std::int32_t launches;
    LaunchMode mode;
    std::uint32_t* counter;
    TileRecord* records;
};

inline TileList tile_list(const LaunchPlan& plan) {
    return {plan.order, static_cast<std::int32_t>(plan.launches), plan.mode, plan.counter, plan.records};
}

// CTAs of a launch.
inline unsigned tile_ctas(const LaunchPlan& plan) {
    return static_cast<unsigned>(plan.mode == LaunchMode::Grid ? plan.launches : plan.persistent_ctas);
}

// Tiles are packed into 16 bits an axis.
inline void check_tile_counts(const char* kernel, std::int64_t rows, std::int64_t columns) {
    if (rows > 0xFFFE || columns > 0xFFFE)
        throw BadInput(std::string(kernel) + " on the GPU takes at most 65534 tiles along an axis");
}

inline void reset_tile_counter(const LaunchPlan& plan) {
    if (plan.mode != LaunchMode::Dynamic) return;
    check_cuda(
        cudaMemsetAsync(plan.counter, 0, sizeof(std::uint32_t), static_cast<cudaStream_t>(plan.stream)),
        "resetting the tile counter");
}

#ifdef __CUDACC__

// Calls body(row, column) with all threads of the CTA, which meet before and after each tile.
template <class Body>
__device__ void for_each_tile(const TileList& list, Body body) {
    __shared__ std::int32_t next;
    std::int32_t id = static_cast<std::int32_t>(blockIdx.x);
    while (true) {
        if (list.mode == LaunchMode::Dynamic) {
            if (threadIdx.x == 0) next = static_cast<std::int32_t>(atomicAdd(list.counter, 1u));
            __syncthreads();
            id = next;
        }
        if (id >= list.launches) return;
        const std::uint32_t tile = list.order[id];
        std::int64_t start = 0;
        if (list.records && threadIdx.x == 0) start = global_timer();
        if (tile != kNoTilePacked)
            body(static_cast<std::int32_t>(tile >> 16), static_cast<std::int32_t>(tile & 0xFFFF));
        __syncthreads();
        if (list.records && threadIdx.x == 0) {
            list.records[id] = {id, sm_id(), start, global_timer()};
        }
        if (list.mode == LaunchMode::Grid) return;
        id += static_cast<std::int32_t>(gridDim.x);  // overwritten when dynamic
    }
}

#endif

}  // namespace l2lens::gpu
