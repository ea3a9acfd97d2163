// SPDX-License-Identifier: Apache-2.0
// The shape of the kernels that work row by row (softmax, layernorm).
#pragma once

#include <cstdint>

namespace l2lens::gpu {

// X[rows, cols] in bf16. CTA (r, c) writes columns [c, c + 1) * cols / chunks of row r.
struct RowShape {
    std::int64_t rows = 8192;
    std::int64_t cols = 8192;
    int chunks = 1;
    int passes = 1;  // 1: the row is read once and kept in registers (chunks = 1); else how often it is read
    int warps = 8;
};

// In pieces of 16 bytes.
struct RowPieces {
    std::int64_t row;
    std::int64_t chunk;
};

}  // namespace l2lens::gpu
