// SPDX-License-Identifier: Apache-2.0
// What the microbenchmarks' kernels share.
#pragma once

#include <cstdint>

#include <cuda_runtime.h>

#include "gpu/cuda_check.hpp"
#include "gpu/kernels/place_and_time.cuh"

namespace l2lens::gpu::probe {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ inline void wait_for_phase(std::uint32_t barrier, std::uint32_t parity) {
    asm volatile(
        "{\n.reg .pred done;\nagain:\nmbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
        "@done bra finished;\nbra again;\nfinished:\n}\n" ::"r"(barrier),
        "r"(parity)
        : "memory");
}

__device__ inline void start_bulk_copy(std::uint32_t to, const char* from, std::uint32_t bytes,
                                       std::uint32_t barrier) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
        "l"(from), "r"(bytes), "r"(barrier)
        : "memory");
}
#endif

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
