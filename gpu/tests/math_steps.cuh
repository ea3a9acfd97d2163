// SPDX-License-Identifier: Apache-2.0
// Steps of MMAs whose operands stay in shared memory, for recorders that keep tensor cores busy.
#pragma once

#include <cstdint>

#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/mix.cuh"
#include "gpu/kernels/wgmma.cuh"

namespace l2lens::gpu::math_steps {

inline constexpr int kThreads = 128;                   // a warpgroup, the first one of its CTA
inline constexpr int kBlockBytes = 64 * 64 * 2;        // 64 rows of 128 B
inline constexpr int kOperandBytes = 5 * kBlockBytes;  // 64 rows of A, 256 of B
inline constexpr std::uint32_t kAlignment = 1024;      // of operands, under the 128 B swizzle
static_assert(kOperandBytes % kAlignment == 0);        // and so of what lies behind them
inline constexpr int kMmas = 8;                        // of a step
inline constexpr int kColumns = 256;
inline constexpr int kCycles = kMmas * kColumns / 2;  // of a step, if nothing is lost between MMAs
inline constexpr double kFlops = 2.0 * kMmas * 64 * kColumns * 16;

// All threads of the CTA fill the operands, at the first place in `shared` where they can lie, and get it.
// Two bf16 a word, of either sign and from 1 to 2, since the power of tensor cores goes with the bits that
// change.
__device__ inline std::uint32_t place_operands(std::uint8_t* shared) {
    const std::uint32_t base = hopper::shared_address(shared);
    const std::uint32_t operands = (base + kAlignment - 1) / kAlignment * kAlignment;
    auto* words = reinterpret_cast<std::uint32_t*>(shared + (operands - base));
    for (int i = static_cast<int>(threadIdx.x); i < kOperandBytes / 4; i += static_cast<int>(blockDim.x)) {
        constexpr std::uint32_t kSignsAndFractions = 0x807f807f;
        constexpr std::uint32_t kOnes = 0x3f803f80;
        words[i] =
            (static_cast<std::uint32_t>(mix(static_cast<std::uint64_t>(i))) & kSignsAndFractions) | kOnes;
    }
    hopper::async_proxy_fence();
    return operands;
}

// The warpgroup: steps, and pause() after each, until stop(), which one thread is asked for all, since a warp
// whose threads do not agree may not multiply. Returns how many. `sink`, a float for each thread, keeps the
// compiler from leaving them out.
template <class Stop, class Pause>
__device__ int run(std::uint32_t operands, float* sink, Stop&& stop, Pause&& pause) {
    const std::uint64_t a = hopper::matrix_descriptor<true>(operands, kBlockBytes);
    const std::uint64_t b = hopper::matrix_descriptor<true>(operands + kBlockBytes, kBlockBytes);
    float sums[kColumns / 2] = {};
    __shared__ volatile bool over;
    int steps = 0;
    for (bool last = false; !last; last = over, ++steps) {
        hopper::wgmma_fence();
#pragma unroll
        for (int i = 0; i < kMmas; ++i) hopper::Wgmma<kColumns, true, true>::mma(sums, a, b, 1);
        hopper::wgmma_commit();
        hopper::wgmma_wait<0>();
        pause();
        hopper::named_barrier(1, kThreads);  // all have read what the last look said
        if (threadIdx.x == 0) over = stop();
        hopper::named_barrier(1, kThreads);
    }
    float sum = 0;
    for (const float s : sums) sum += s;
    sink[threadIdx.x] = sum;
    return steps;
}

}  // namespace l2lens::gpu::math_steps
