// SPDX-License-Identifier: Apache-2.0
// B = the weighted sum of each cell of A and its neighbours along the axes, radius R: one sweep of
// models/kernels/stencil2d.lua (shape=star). Never run: compile-checked for gfx942 only.
#include "hip_runtime.hpp"

namespace l2lens::hip {

constexpr int kRows = 32;
constexpr int kColumns = 128;
constexpr int kThreads = 256;

template <int R>
__device__ void sweep(const float* a, float* b, int m, int n, const float* weight, const Tile* order) {
    __shared__ float cell[kRows + 2 * R][kColumns + 2 * R];
    const Tile at = order[blockIdx.x];
    const int top = at.row * kRows - R, left = at.column * kColumns - R;
    for (int i = threadIdx.x; i < (kRows + 2 * R) * (kColumns + 2 * R); i += kThreads) {
        const int row = i / (kColumns + 2 * R), column = i % (kColumns + 2 * R);
        const bool corner = (row < R || row >= kRows + R) && (column < R || column >= kColumns + R);
        const int y = top + row, x = left + column;
        const bool there = !corner && y >= 0 && y < m && x >= 0 && x < n;
        cell[row][column] = there ? a[static_cast<long>(y) * n + x] : 0;
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kRows * kColumns; i += kThreads) {
        const int row = i / kColumns + R, column = i % kColumns + R;
        float sum = weight[0] * cell[row][column];
        for (int r = 1; r <= R; ++r) {
            sum += weight[r] * (cell[row - r][column] + cell[row + r][column] + cell[row][column - r] +
                                cell[row][column + r]);
        }
        const int y = top + row, x = left + column;
        if (y < m && x < n) b[static_cast<long>(y) * n + x] = sum;
    }
}

__global__ __launch_bounds__(kThreads) void stencil2d_r1(const float* a, float* b, int m, int n,
                                                         const float* weight, const Tile* order) {
    sweep<1>(a, b, m, n, weight, order);
}
__global__ __launch_bounds__(kThreads) void stencil2d_r4(const float* a, float* b, int m, int n,
                                                         const float* weight, const Tile* order) {
    sweep<4>(a, b, m, n, weight, order);
}

}  // namespace l2lens::hip
