// SPDX-License-Identifier: Apache-2.0
// Where a thread runs, and when by the GPU's own clock, the same for all SMs.
#pragma once

#include <cstdint>

namespace l2lens::gpu {

__device__ inline std::int64_t global_timer() {  // ns
    std::int64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

__device__ inline int sm_id() {
    int id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

}  // namespace l2lens::gpu
