// SPDX-License-Identifier: Apache-2.0
// Y = softmax of each row of X, `chunks` workgroups a row: models/kernels/softmax.lua with passes=2. Each
// reads the whole row for its maximum and sum (online, Milakov and Gimelshein) and writes a chunk. Never run:
// compile-checked for gfx942 only.
#include "hip_runtime.hpp"

namespace l2lens::hip {

constexpr int kThreads = 256;
constexpr float kLog2E = 1.4426950408889634f;

// A running maximum and the sum of exponentials below it.
struct Statistics {
    float maximum;
    float sum;
};

__device__ Statistics joined(Statistics a, Statistics b) {
    const float maximum = a.maximum > b.maximum ? a.maximum : b.maximum;
    return {maximum, a.sum * __builtin_amdgcn_exp2f((a.maximum - maximum) * kLog2E) +
                         b.sum * __builtin_amdgcn_exp2f((b.maximum - maximum) * kLog2E)};
}

__device__ Statistics over_workgroup(Statistics own) {
    __shared__ Statistics shared[kThreads];
    shared[threadIdx.x] = own;
    __syncthreads();
    for (int width = kThreads / 2; width > 0; width /= 2) {
        if (threadIdx.x < width)
            shared[threadIdx.x] = joined(shared[threadIdx.x], shared[threadIdx.x + width]);
        __syncthreads();
    }
    return shared[0];
}

__global__ __launch_bounds__(kThreads) void softmax(const Bits16* x, Bits16* y, int columns, int chunk,
                                                    const Tile* order) {
    const Tile at = order[blockIdx.x];
    const Bits16* const row = x + static_cast<long>(at.row) * columns;
    Statistics own{-3.0e38f, 0};
    for (int i = threadIdx.x; i < columns; i += kThreads) own = joined(own, {to_float(row[i]), 1});
    const Statistics all = over_workgroup(own);
    const int begin = at.column * chunk, end = begin + chunk < columns ? begin + chunk : columns;
    for (int i = begin + threadIdx.x; i < end; i += kThreads) {
        const float value = __builtin_amdgcn_exp2f((to_float(row[i]) - all.maximum) * kLog2E) / all.sum;
        y[static_cast<long>(at.row) * columns + i] = to_bf16(value);
    }
}

}  // namespace l2lens::hip
