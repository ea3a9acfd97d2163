// SPDX-License-Identifier: Apache-2.0
// B = A and B = A transposed, tile by tile: kernels that read nothing twice. Same parameters as
// models/kernels/copy.lua and transpose.lua.
#pragma once

#include <cstdint>

#include "gpu/kernels/launch.hpp"

namespace l2lens::gpu {

enum class CopyPath { Tma, Load };  // the copy engine, or loads through L1 and stores

struct CopyShape {
    std::int64_t m = 8192;
    std::int64_t n = 8192;
    int bm = 64;
    int bn = 128;
    int element_bytes = 2;
    CopyPath path = CopyPath::Tma;
};

struct TransposeShape {
    std::int64_t m = 8192;
    std::int64_t n = 8192;
    int tile = 64;
    int element_bytes = 2;
};

// Throw BadInput for a shape the kernel cannot run.
void check_copy(const CopyShape& shape);
void check_transpose(const TransposeShape& shape);

int copy_ctas_per_sm(const CopyShape& shape);
int transpose_ctas_per_sm(const TransposeShape& shape);

// A[m,n] and B, both row-major without padding; B[n,m] when transposed.
void launch_copy(const CopyShape& shape, const void* a, void* b, const LaunchPlan& plan);
void launch_transpose(const TransposeShape& shape, const void* a, void* b, const LaunchPlan& plan);

// The part of launch_copy() that needs Hopper's copy engine.
void launch_tma_copy(const CopyShape& shape, const void* a, void* b, const LaunchPlan& plan);
int tma_copy_ctas_per_sm(const CopyShape& shape);

}  // namespace l2lens::gpu
