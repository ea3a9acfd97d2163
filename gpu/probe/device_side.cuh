// SPDX-License-Identifier: Apache-2.0
// What the microbenchmarks' kernels share.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "gpu/cuda_check.hpp"

namespace l2lens::gpu::probe {

__device__ inline int sm_id() {
    int id;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(id));
    return id;
}

__device__ inline std::int64_t global_timer() {
    std::int64_t ns;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
    return ns;
}

// More than half of an SM's shared memory, so that one CTA fits an SM.
inline int shared_memory_for_one_cta_per_sm() {
    int device = 0;
    int bytes = 0;
    check_cuda(cudaGetDevice(&device), "asking for the current device");
    check_cuda(cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device),
               "asking for shared memory");
    return bytes - 1024;
}

template <class Kernel>
int prepare_one_cta_per_sm(Kernel kernel) {
    const int bytes = shared_memory_for_one_cta_per_sm();
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes),
               "asking for shared memory");
    return bytes;
}

}  // namespace l2lens::gpu::probe
