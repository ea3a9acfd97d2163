// SPDX-License-Identifier: Apache-2.0
// Operands of random data, the same for the same seed on every GPU.
#pragma once

#include <cstddef>
#include <cstdint>

namespace l2lens::gpu {

// bf16 values uniform in [-1, 1).
void fill_random_bf16(void* data, std::size_t count, std::uint64_t seed, void* stream = nullptr);

// The value of element i, for references on the host.
float random_bf16(std::uint64_t seed, std::uint64_t i);

}  // namespace l2lens::gpu
