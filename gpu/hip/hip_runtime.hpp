// SPDX-License-Identifier: Apache-2.0
// HIP's own header where it is installed; else the few names of it that these kernels use, so that a bare
// clang with an AMD GPU target can check that they compile.
#pragma once

#if __has_include(<hip/hip_runtime.h>)
#include <hip/hip_runtime.h>
#else
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __launch_bounds__(threads) __attribute__((amdgpu_flat_work_group_size(1, threads)))
struct ThreadIndex {
    __device__ operator int() const { return static_cast<int>(__builtin_amdgcn_workitem_id_x()); }
};
struct BlockIndex {
    __device__ operator int() const { return static_cast<int>(__builtin_amdgcn_workgroup_id_x()); }
};
struct ThreadIdx {
    static constexpr ThreadIndex x{};
};
struct BlockIdx {
    static constexpr BlockIndex x{};
};
static constexpr ThreadIdx threadIdx{};
static constexpr BlockIdx blockIdx{};
__device__ inline void __syncthreads() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
    __builtin_amdgcn_s_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
#endif

namespace l2lens::hip {

// What a workgroup computes: the order as a table by workgroup id, as the CUDA kernels take it. Workgroup i
// runs on XCD i mod 8 of an MI300X, so an XCD remap is another table.
struct Tile {
    int row;
    int column;
};

using Bits16 = unsigned short;  // bf16

__device__ inline float to_float(Bits16 value) {
    return __builtin_bit_cast(float, static_cast<unsigned>(value) << 16);
}

// Rounds to nearest, ties to even.
__device__ inline Bits16 to_bf16(float value) {
    const unsigned bits = __builtin_bit_cast(unsigned, value);
    return static_cast<Bits16>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16);
}

}  // namespace l2lens::hip
