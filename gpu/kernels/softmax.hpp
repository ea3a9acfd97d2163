// SPDX-License-Identifier: Apache-2.0
// Y = softmax of each row of X. Same parameters as models/kernels/softmax.lua.
#pragma once

#include "gpu/kernels/launch.hpp"
#include "gpu/kernels/row_shape.hpp"

namespace l2lens::gpu {

// Throws BadInput for a shape the kernel cannot run.
void check_softmax(const RowShape& shape);

int softmax_ctas_per_sm(const RowShape& shape);

// X and Y [rows, cols] in bf16. A tile is a chunk of a row. passes = 2 reads the whole row for its maximum
// and sum at once (Milakov and Gimelshein, arXiv 1805.02867), then the chunk again; passes = 3 reads it once
// for each.
void launch_softmax(const RowShape& shape, const void* x, void* y, const LaunchPlan& plan);

}  // namespace l2lens::gpu
