// SPDX-License-Identifier: Apache-2.0
// SMs that read boxes which the L2 has, as many at a time, until others have timed what they wait for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <cuda.h>

#include "gpu/device_buffer.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/copy_ring.cuh"
#include "gpu/tests/row_boxes.cuh"

namespace l2lens::gpu {

struct BusyBoxes {
    CUtensorMap boxes;
    int in_flight, rows;         // of each SM: boxes, and the rows of one
    unsigned until;              // so many have finished
    unsigned* finished;          // device memory, as what follows
    unsigned long long* copied;  // bytes, by role
    long long* lasted_ns;        // by role
};

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
// By one thread of an SM, boxes of its role's rows, to shared memory at `to`.
__device__ inline void keep_busy(const BusyBoxes& busy, int role, std::uint32_t to, std::uint64_t* barriers) {
    const auto bytes = static_cast<std::uint32_t>(busy.rows * row_boxes::kRowBytes);
    CopyRing ring(barriers, busy.in_flight);
    row_boxes::ResidentWalk start_next(busy.boxes, bytes, role * row_boxes::kBoxRows, to);
    ring.begin(start_next);
    constexpr unsigned kBetweenLooks = 64;
    const volatile unsigned* finished = busy.finished;
    const long long begin = global_timer();
    unsigned long long copied = 0;
    while (*finished < busy.until) {
        for (unsigned i = 0; i < kBetweenLooks; ++i) ring.turn(start_next);
        copied += std::uint64_t{kBetweenLooks} * bytes;
    }
    busy.copied[role] = copied;
    busy.lasted_ns[role] = global_timer() - begin;
    ring.finish();
}
#endif

// Bytes a ns of all of them together.
inline double rate_of(const DeviceBuffer<unsigned long long>& copied,
                      const DeviceBuffer<long long>& lasted_ns) {
    const std::vector<unsigned long long> bytes = copied.to_host();
    const std::vector<long long> ns = lasted_ns.to_host();
    double rate = 0;
    for (std::size_t role = 0; role < bytes.size(); ++role)
        if (ns[role] > 0) rate += static_cast<double>(bytes[role]) / static_cast<double>(ns[role]);
    return rate;
}

}  // namespace l2lens::gpu
