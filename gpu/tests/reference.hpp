// SPDX-License-Identifier: Apache-2.0
// The slow, obvious product that the GEMM kernel is held against.
#pragma once

#include <cstdint>

namespace l2lens::gpu {

struct ReferenceProblem {
    std::int64_t m, n, k;
    bool a_k_major, b_k_major;
    const void* a;
    const void* b;
    const void* c;  // what the kernel wrote
};

// fill_random_bf16() gives multiples of 1/128 in [-1, 1): products are multiples of 2^-14, and their sum is
// taken in integers, without any rounding. Counts the elements of C that are not the bf16 nearest to it (ties
// to even), among `samples` elements spread evenly over C (all of them when there are fewer).
std::int64_t count_wrong_elements(const ReferenceProblem& problem, std::int64_t samples);

}  // namespace l2lens::gpu
