// SPDX-License-Identifier: Apache-2.0
// Operands of random data, the same for the same seed on every GPU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace l2lens::gpu {

// bf16 values uniform in [-1, 1), multiples of 1/128: sums of their products are exact.
void fill_random_bf16(void* data, std::size_t count, std::uint64_t seed, void* stream = nullptr);

// bf16 values that are normally distributed with deviation 1, as frameworks fill test matrices. What tensor
// cores draw depends on the data, and so does their clock: with the short mantissas of fill_random_bf16() an
// H200 runs the 128x256 tiles of a GEMM 7 % faster.
void fill_normal_bf16(void* data, std::size_t count, std::uint64_t seed, void* stream = nullptr);

// The value of element i of fill_random_bf16(), for references on the host.
float random_bf16(std::uint64_t seed, std::uint64_t i);

}  // namespace l2lens::gpu
