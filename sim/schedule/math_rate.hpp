// SPDX-License-Identifier: Apache-2.0
// What a step of a CTA's program costs an SM.
#pragma once

#include <algorithm>

#include "kernel/kernel.hpp"
#include "machine/machine.hpp"

namespace l2lens {

// Flops per SM cycle.
inline double math_rate(const Machine& machine, MathType math) {
    switch (math) {
        case MathType::Bits8:
            return machine.sm.tensor_flops_per_cycle_8bit;
        case MathType::Tf32:
            return machine.sm.tensor_flops_per_cycle_tf32;
        case MathType::Bits16:
            break;
    }
    return machine.sm.tensor_flops_per_cycle_16bit;
}

// SM cycles for which a warpgroup of four warps hands the MMAs of a step to the tensor cores, for each flop
// of the CTA's step.
inline double mma_issue_per_flop(const Machine& machine, const Kernel& kernel) {
    constexpr double kThreadsOfWarpgroup = 128;
    const double warpgroups = std::max(1.0, kernel.resources.threads / kThreadsOfWarpgroup);
    return machine.sm.mma_issue / math_rate(machine, kernel.math) / warpgroups;
}

}  // namespace l2lens
