// SPDX-License-Identifier: Apache-2.0
// Operands of live kernels on the device: inputs random, outputs poisoned.
#pragma once

#include <cstdint>

#include "gpu/device_buffer.hpp"
#include "gpu/kernels/fill.hpp"

namespace l2lens::gpu {

// bf16 in [-1, 1).
inline DeviceBuffer<std::uint16_t> random_bf16_operand(std::int64_t count, std::uint64_t seed) {
    DeviceBuffer<std::uint16_t> data(static_cast<std::size_t>(count));
    fill_random_bf16(data.get(), data.size(), seed);
    return data;
}

// bf16, normally distributed: for kernels whose time is their tensor cores'.
inline DeviceBuffer<std::uint16_t> normal_bf16_operand(std::int64_t count, std::uint64_t seed) {
    DeviceBuffer<std::uint16_t> data(static_cast<std::size_t>(count));
    fill_normal_bf16(data.get(), data.size(), seed);
    return data;
}

// fp32 in (-1.01, 1.01): its upper half is such a bf16, its lower half more bits of the mantissa.
inline DeviceBuffer<float> random_fp32_operand(std::int64_t count, std::uint64_t seed) {
    DeviceBuffer<float> data(static_cast<std::size_t>(count));
    fill_random_bf16(data.get(), 2 * data.size(), seed);
    return data;
}

template <class T>
DeviceBuffer<T> poisoned_operand(std::int64_t count) {
    DeviceBuffer<T> data(static_cast<std::size_t>(count));
    data.fill_bytes(0xFF);
    return data;
}

}  // namespace l2lens::gpu
