// SPDX-License-Identifier: Apache-2.0
// Plain loads that the L1 does not answer.
#pragma once

namespace l2lens::gpu {

__device__ inline unsigned load_word_past_l1(const char* at) {
    unsigned value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

}  // namespace l2lens::gpu
