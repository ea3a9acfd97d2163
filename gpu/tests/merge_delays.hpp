// SPDX-License-Identifier: Apache-2.0
// Two SMs ask for the same lines, one of them later.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/probe/kernels.hpp"

namespace l2lens::gpu {

struct Pairs {
    std::vector<std::uint64_t> offsets;  // of 512 B each, bytes into the buffer: four lines a round
    int delay_cycles = 0;                // of participant 1 after participant 0
    bool resident = false;               // participant 0 loads them four microseconds before, too
};

// Asynchronous. The buffer holds zeros.
void load_in_pairs(const void* buffer, const Pairs& pairs, const DeviceRoles& roles);

}  // namespace l2lens::gpu
