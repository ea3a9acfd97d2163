// SPDX-License-Identifier: Apache-2.0
// Tensor maps: what the copy engine is told about a matrix. Private to gpu/kernels and gpu/tests (includes
// CUDA's header).
#pragma once

#include <cstdint>

#include <cuda.h>

namespace l2lens::gpu {

// A row-major bf16 matrix without padding, read or written in boxes of `box_rows` x 64 elements (128 B rows
// under the 128 B swizzle), what lies outside read as zero and not written. Promotes L2 fetches to 128 B, as
// Triton's maps do.
CUtensorMap tile_map(const void* base, std::int64_t rows, std::int64_t columns, int box_rows);

// The same of `planes` such matrices one behind the other, read and written in boxes that end with their
// plane.
CUtensorMap plane_map(const void* base, std::int64_t planes, std::int64_t rows, std::int64_t columns,
                      int box_rows);

// Of one matrix, without swizzle, for elements of 1, 2 or 4 bytes and boxes of any extent up to 256.
CUtensorMap plain_map(const void* base, std::int64_t rows, std::int64_t columns, int element_bytes,
                      int box_rows, int box_columns);

}  // namespace l2lens::gpu
