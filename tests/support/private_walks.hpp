// SPDX-License-Identifier: Apache-2.0
// A kernel that only loads: each SM's CTA walks boxes of its own over and over, as microbenchmarks do whose
// data the L2 has after the first walk.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"

namespace l2lens::test {

struct PrivateWalks {
    std::int64_t rows_of_cta = 0;  // of the matrix
    std::int64_t row_bytes = 0;
    BoxWalk box;             // of the first CTA; the others' begin rows_of_cta further down each
    std::int64_t boxes = 0;  // of a walk
    std::int64_t walks = 0;
    int in_flight = 0;  // boxes
};

// Of so many CTAs, over a matrix of 16-bit elements. It has no math.
inline Kernel private_walks(std::int64_t ctas, const PrivateWalks& walks) {
    constexpr int kElementBytes = 2;
    Tensor matrix;
    matrix.name = "A";
    matrix.rank = 2;
    matrix.shape = {ctas * walks.rows_of_cta, walks.row_bytes / kElementBytes};
    matrix.stride_bytes = {walks.row_bytes, kElementBytes};
    matrix.element_bytes = kElementBytes;
    Kernel kernel;
    kernel.name = "private_walks";
    kernel.tensors = {matrix};
    kernel.axes = {"sm", "one"};
    kernel.grid = {ctas, 1};
    for (std::int64_t cta = 0; cta < ctas; ++cta) {
        BoxWalk box = walks.box;
        box.start[0] += cta * walks.rows_of_cta;
        Phase phase;
        phase.count = walks.boxes;
        phase.loads = {box};
        kernel.programs.push_back(Program{std::vector<Phase>(static_cast<std::size_t>(walks.walks), phase)});
    }
    kernel.stages = walks.in_flight + 1;
    kernel.resources.threads = 32;
    kernel.resources.registers_per_thread = 32;
    return kernel;
}

}  // namespace l2lens::test
