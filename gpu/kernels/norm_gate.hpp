// SPDX-License-Identifier: Apache-2.0
// O = H / max(|n|, 1) * sigmoid(G), the output stage of an mLSTM cell (xLSTM, arXiv 2405.04517, equations 21
// and 22): in one launch, or in two with the normalised H in between. Same parameters as
// models/kernels/norm_gate.lua.
#pragma once

#include <cstdint>

#include "gpu/kernels/launch.hpp"

namespace l2lens::gpu {

struct NormGateShape {
    std::int64_t rows = 262144;
    std::int64_t dim = 64;
    int block = 64;  // rows of a tile
    int warps = 8;
    bool fused = true;

    std::int64_t tile_rows() const { return (rows + block - 1) / block; }
};

// Device memory: H, G, O and T, the normalised H between the two launches, [rows, dim] in bf16; n [rows] in
// fp32.
struct NormGateOperands {
    const void* h = nullptr;
    const float* n = nullptr;
    const void* g = nullptr;
    void* t = nullptr;
    void* o = nullptr;
};

// Throws BadInput for a shape the kernel cannot run.
void check_norm_gate(const NormGateShape& shape);

int norm_gate_ctas_per_sm(const NormGateShape& shape);

// A tile is a block of rows; both launches take the same order.
void launch_norm_gate(const NormGateShape& shape, const NormGateOperands& operands, const LaunchPlan& plan);

}  // namespace l2lens::gpu
