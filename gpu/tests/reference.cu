// SPDX-License-Identifier: Apache-2.0
#include <cuda_bf16.h>

#include "gpu/device_buffer.hpp"
#include "gpu/tests/reference.hpp"

namespace l2lens::gpu {
namespace {

__device__ std::int64_t units(const void* data, std::int64_t i) {
    return static_cast<std::int64_t>(__bfloat162float(static_cast<const __nv_bfloat16*>(data)[i]) * 128.0f);
}

__global__ void compare(ReferenceProblem p, std::int64_t samples, unsigned long long* wrong) {
    const std::int64_t sample = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x;
    if (sample >= samples) return;
    const std::int64_t elements = p.m * p.n;
    const auto at = static_cast<std::int64_t>(static_cast<double>(sample) / static_cast<double>(samples) *
                                              static_cast<double>(elements));
    const std::int64_t i = at / p.n;
    const std::int64_t j = at % p.n;
    std::int64_t sum = 0;
    for (std::int64_t l = 0; l < p.k; ++l)
        sum += units(p.a, p.a_k_major ? i * p.k + l : l * p.m + i) *
               units(p.b, p.b_k_major ? j * p.k + l : l * p.n + j);
    const __nv_bfloat16 expected = __double2bfloat16(static_cast<double>(sum) / 16384.0);
    const auto got = static_cast<const __nv_bfloat16*>(p.c)[at];
    // Compared as bits: the poison is a NaN, and -0 cannot come out of a sum.
    if (__bfloat16_as_ushort(got) != __bfloat16_as_ushort(expected)) atomicAdd(wrong, 1ull);
}

}  // namespace

std::int64_t count_wrong_elements(const ReferenceProblem& problem, std::int64_t samples) {
    samples = std::min(samples, problem.m * problem.n);
    DeviceBuffer<unsigned long long> wrong(1);
    wrong.fill_bytes(0);
    compare<<<static_cast<unsigned>((samples + 127) / 128), 128>>>(problem, samples, wrong.get());
    check_launch("the reference product");
    return static_cast<std::int64_t>(wrong.to_host()[0]);
}

}  // namespace l2lens::gpu
