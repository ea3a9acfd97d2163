// SPDX-License-Identifier: Apache-2.0
// Boxes as a GEMM asks for them, of a matrix of bf16 with rows of 16 KiB: 128 B of each row. What several
// recorders read.
#pragma once

#include <cstdint>

#include <cuda.h>

#include "gpu/kernels/hopper.cuh"

namespace l2lens::gpu::row_boxes {

inline constexpr int kColumns = 8192;
inline constexpr int kBoxColumns = 64;
inline constexpr int kRowBytes = kBoxColumns * 2;
inline constexpr int kBoxRows = 128;  // 2 MiB of the matrix: a page
inline constexpr std::uint32_t kBoxBytes = kBoxRows * kRowBytes;
// The first boxes of an SM's 128 rows, 160 KiB, which the L2 keeps of all SMs.
inline constexpr int kResidentBoxes = 10;
inline constexpr int kAlignment = 1024;  // of boxes in shared memory, under the 128 B swizzle

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
// Starts loads of an SM's resident boxes, one after the other and over again, for a CopyRing.
class ResidentWalk {
public:
    // Boxes of `bytes` from `row` on, into the slots of a ring in shared memory that begins at `to`.
    __device__ ResidentWalk(const CUtensorMap& boxes, std::uint32_t bytes, int row, std::uint32_t to)
        : boxes_(&boxes), bytes_(bytes), row_(row), to_(to) {}

    __device__ void operator()(int slot, std::uint32_t barrier) {
        hopper::barrier_expect_bytes(barrier, bytes_);
        hopper::load_box(boxes_, to_ + static_cast<std::uint32_t>(slot) * bytes_, barrier,
                         across_ * kBoxColumns, row_);
        across_ = across_ + 1 == kResidentBoxes ? 0 : across_ + 1;
    }

private:
    const CUtensorMap* boxes_;
    std::uint32_t bytes_;
    int row_;
    std::uint32_t to_;
    int across_ = 0;
};
#endif

}  // namespace l2lens::gpu::row_boxes
