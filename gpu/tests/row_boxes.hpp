// SPDX-License-Identifier: Apache-2.0
// Boxes as a GEMM asks for them, of a matrix of bf16 with rows of 16 KiB: 128 B of each row. What several
// recorders read.
#pragma once

#include <cstdint>

namespace l2lens::gpu::row_boxes {

inline constexpr int kColumns = 8192;
inline constexpr int kBoxColumns = 64;
inline constexpr int kRowBytes = kBoxColumns * 2;
inline constexpr int kBoxRows = 128;  // 2 MiB of the matrix: a page
inline constexpr std::uint32_t kBoxBytes = kBoxRows * kRowBytes;
// The first boxes of an SM's 128 rows, 160 KiB, which the L2 keeps of all SMs.
inline constexpr int kResidentBoxes = 10;
inline constexpr int kAlignment = 1024;  // of boxes in shared memory, under the 128 B swizzle

}  // namespace l2lens::gpu::row_boxes
