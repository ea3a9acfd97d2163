// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda_check.hpp"
#include "gpu/kernels/flush.hpp"

namespace l2lens::gpu {
namespace {

__global__ void read_all(const uint4* data, std::int64_t count, unsigned* never) {
    unsigned sum = 0;
    for (std::int64_t i = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; i < count;
         i += std::int64_t{gridDim.x} * blockDim.x) {
        uint4 value;
        asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                     : "=r"(value.x), "=r"(value.y), "=r"(value.z), "=r"(value.w)
                     : "l"(data + i));
        sum += value.x ^ value.y ^ value.z ^ value.w;
    }
    if (never) *never = sum;  // keeps the loads; the launch passes nullptr
}

}  // namespace

void flush_l2(const void* buffer, std::int64_t bytes, void* stream) {
    read_all<<<1056, 256, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<const uint4*>(buffer),
                                                                  bytes / 16, nullptr);
    check_launch("the cache flush");
}

}  // namespace l2lens::gpu
