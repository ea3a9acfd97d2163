// SPDX-License-Identifier: Apache-2.0
// A two-dimensional stencil in fp32, sweep after sweep between two grids: each point becomes half
// itself and half the mean of its neighbours up to `radius` away, along the axes (star) or all around (box).
// What lies outside counts as zero. Same parameters as models/kernels/stencil2d.lua.
#pragma once

#include <cstdint>

#include "gpu/kernels/launch.hpp"

namespace l2lens::gpu {

inline constexpr int kMostStencilRadius = 4;

struct StencilShape {
    std::int64_t m = 8192;
    std::int64_t n = 8192;
    int radius = 1;
    int bm = 32;
    int bn = 128;
    bool box = false;
    int sweeps = 1;  // one launch each
    int warps = 8;

    std::int64_t tile_rows() const { return (m + bm - 1) / bm; }
    std::int64_t tile_columns() const { return (n + bn - 1) / bn; }
    int neighbours() const { return box ? (2 * radius + 1) * (2 * radius + 1) - 1 : 4 * radius; }
};

// Throws BadInput for a shape the kernel cannot run.
void check_stencil2d(const StencilShape& shape);

int stencil2d_ctas_per_sm(const StencilShape& shape);

// A and B [m, n] in fp32. Sweep 1 reads A and writes B, sweep 2 reads B and writes A, and so on: A holds the
// result of an even number of sweeps, B of an odd one.
void launch_stencil2d(const StencilShape& shape, float* a, float* b, const LaunchPlan& plan);

}  // namespace l2lens::gpu
