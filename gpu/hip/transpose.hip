// SPDX-License-Identifier: Apache-2.0
// B = A transposed, 64 x 64 tiles through LDS: models/kernels/transpose.lua for an AMD GPU. Never run:
// compile-checked for gfx942 only.
#include "hip_runtime.hpp"

namespace l2lens::hip {

constexpr int kTile = 64;
constexpr int kThreads = 256;

__global__ __launch_bounds__(kThreads) void transpose(const Bits16* a, Bits16* b, int m, int n,
                                                      const Tile* order) {
    __shared__ Bits16 tile[kTile][kTile + 1];  // a column of padding against bank conflicts
    const Tile at = order[blockIdx.x];
    const int column = threadIdx.x % kTile;
    for (int row = threadIdx.x / kTile; row < kTile; row += kThreads / kTile) {
        const int i = at.row * kTile + row, j = at.column * kTile + column;
        if (i < m && j < n) tile[row][column] = a[static_cast<long>(i) * n + j];
    }
    __syncthreads();
    for (int row = threadIdx.x / kTile; row < kTile; row += kThreads / kTile) {
        const int i = at.column * kTile + row, j = at.row * kTile + column;
        if (i < n && j < m) b[static_cast<long>(i) * m + j] = tile[column][row];
    }
}

}  // namespace l2lens::hip
