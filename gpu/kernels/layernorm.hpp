// SPDX-License-Identifier: Apache-2.0
// Y = (X - mean) / sqrt(variance + epsilon) * W + B, each row's mean and variance. Same parameters as
// models/kernels/layernorm.lua.
#pragma once

#include "gpu/kernels/launch.hpp"
#include "gpu/kernels/row_shape.hpp"

namespace l2lens::gpu {

inline constexpr float kLayernormEpsilon = 1e-5f;  // PyTorch's default

// Device memory: X and Y [rows, cols], W and B [cols] in bf16; mean and rstd = 1 / sqrt(variance + epsilon),
// [rows] in fp32, written by the CTAs of chunk 0.
struct LayernormOperands {
    const void* x = nullptr;
    const void* w = nullptr;
    const void* b = nullptr;
    void* y = nullptr;
    float* mean = nullptr;
    float* rstd = nullptr;
};

// Throws BadInput for a shape the kernel cannot run.
void check_layernorm(const RowShape& shape);

int layernorm_ctas_per_sm(const RowShape& shape);

// A tile is a chunk of a row. passes = 2 takes the sum and the sum of squares from one read of the row (which
// loses digits when the mean is large beside the deviation); 1 and 3 take the variance around the mean.
void launch_layernorm(const RowShape& shape, const LayernormOperands& operands, const LaunchPlan& plan);

}  // namespace l2lens::gpu
