// SPDX-License-Identifier: Apache-2.0
// What a step of a CTA's program costs an SM.
#pragma once

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

}  // namespace l2lens
