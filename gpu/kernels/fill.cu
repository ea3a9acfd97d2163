// SPDX-License-Identifier: Apache-2.0
#include <bit>

#include <cuda_bf16.h>

#include "gpu/cuda_check.hpp"
#include "gpu/kernels/fill.hpp"
#include "gpu/kernels/mix.cuh"

namespace l2lens::gpu {
namespace {

// A bf16 is the upper half of a float: eight random bits over [-1, 1) in steps of 1/128 are exact in it.
__host__ __device__ inline float value_of(std::uint64_t seed, std::uint64_t i) {
    const auto byte = static_cast<int>(mix(seed * 0x100000001B3ull + i) >> 56);
    return static_cast<float>(byte - 128) / 128.0f;
}

__global__ void fill_kernel(std::uint16_t* data, std::size_t count, std::uint64_t seed) {
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step)
        data[i] = static_cast<std::uint16_t>(__float_as_uint(value_of(seed, i)) >> 16);
}

// Box and Muller (1958) from the two halves of a random word.
__global__ void fill_normal_kernel(std::uint16_t* data, std::size_t count, std::uint64_t seed) {
    constexpr float kTwoPi = 6.2831853f;
    const std::size_t step = std::size_t{gridDim.x} * blockDim.x;
    for (std::size_t i = std::size_t{blockIdx.x} * blockDim.x + threadIdx.x; i < count; i += step) {
        const std::uint64_t word = mix(seed * 0x100000001B3ull + i);
        const float u = (static_cast<float>(word >> 40) + 0.5f) * 0x1p-24f;
        const float v = static_cast<float>(word & 0xFFFFFF) * 0x1p-24f;
        data[i] = __bfloat16_as_ushort(__float2bfloat16_rn(sqrtf(-2 * logf(u)) * cosf(kTwoPi * v)));
    }
}

}  // namespace

void fill_normal_bf16(void* data, std::size_t count, std::uint64_t seed, void* stream) {
    fill_normal_kernel<<<1024, 256, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<std::uint16_t*>(data),
                                                                            count, seed);
    check_launch("the random fill");
}

void fill_random_bf16(void* data, std::size_t count, std::uint64_t seed, void* stream) {
    fill_kernel<<<1024, 256, 0, static_cast<cudaStream_t>(stream)>>>(static_cast<std::uint16_t*>(data), count,
                                                                     seed);
    check_launch("the random fill");
}

float random_bf16(std::uint64_t seed, std::uint64_t i) {
    return value_of(seed, i);
}

}  // namespace l2lens::gpu
