// SPDX-License-Identifier: Apache-2.0
// C = A B on Hopper's tensor cores: bf16 operands, fp32 accumulation, TMA loads into a ring of stages, one
// producer warp and 4 or 8 warps of wgmma, C stored by TMA. Same parameters as models/kernels/gemm.lua.
#pragma once

#include <cstdint>

#include "gpu/kernels/launch.hpp"

namespace l2lens::gpu {

struct GemmShape {
    std::int64_t m = 8192;
    std::int64_t n = 8192;
    std::int64_t k = 8192;
    int bm = 128;
    int bn = 128;
    int bk = 64;
    int stages = 4;
    int warps = 8;  // of wgmma; the producer warp comes on top
    // As BLAS writes it, each operand by its contiguous axis: tn is A[m,k], B[n,k]; tt is B[k,n]; nn is
    // A[k,m]; nt both.
    bool a_k_major = true;
    bool b_k_major = true;
    int cluster_rows = 1;     // 2: pairs of tiles of one column share B by multicast
    int cluster_columns = 1;  // 2: pairs of tiles of one row share A by multicast

    int cluster() const { return cluster_rows * cluster_columns; }
    std::int64_t tile_rows() const { return (m + bm - 1) / bm; }
    std::int64_t tile_columns() const { return (n + bn - 1) / bn; }
};

// Device memory, row-major as the layout says, without padding between rows.
struct GemmOperands {
    const void* a = nullptr;
    const void* b = nullptr;
    void* c = nullptr;  // C[m,n], bf16
};

// Throws BadInput for a shape the kernel cannot run, saying which ones it can.
void check_gemm(const GemmShape& shape);

// Stages that fit shared memory; 0 for a tile that the kernel does not have.
int gemm_most_stages(const GemmShape& shape);

// Shared memory of one CTA, and how many fit an SM (by the driver's own occupancy calculation).
std::int64_t gemm_shared_memory(const GemmShape& shape);
int gemm_ctas_per_sm(const GemmShape& shape);

void launch_gemm(const GemmShape& shape, const GemmOperands& operands, const LaunchPlan& plan);

}  // namespace l2lens::gpu
