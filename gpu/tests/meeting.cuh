// SPDX-License-Identifier: Apache-2.0
// How participants on several SMs begin together.
#pragma once

#include "gpu/probe/device_side.cuh"

namespace l2lens::gpu {

// In device memory, zeros at first.
struct Meeting {
    unsigned arrived;
    unsigned long long start_ns;
};

// One thread of each participant: waits for the others, and says when all of them begin, by the GPU's timer.
__device__ inline long long meet(Meeting* meeting, int role, int participants) {
    constexpr long long kAheadNs = 20000;
    atomicAdd(&meeting->arrived, 1u);
    if (role == 0) {
        while (atomicAdd(&meeting->arrived, 0u) < static_cast<unsigned>(participants)) {
        }
        atomicExch(&meeting->start_ns, static_cast<unsigned long long>(global_timer() + kAheadNs));
    }
    long long start = 0;
    while (start == 0) start = static_cast<long long>(atomicAdd(&meeting->start_ns, 0ull));
    return start;
}

}  // namespace l2lens::gpu
