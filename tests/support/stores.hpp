// SPDX-License-Identifier: Apache-2.0
// A kernel that only writes.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"

namespace l2lens::test {

// `mib` MiB, a CTA for each.
inline Kernel fill(std::int64_t mib) {
    constexpr std::int64_t kRows = 64, kRowBytes = 16 << 10;
    Tensor c;
    c.name = "C";
    c.rank = 2;
    c.shape = {mib * kRows, kRowBytes};
    c.stride_bytes = {kRowBytes, 1};
    c.element_bytes = 1;
    Kernel kernel;
    kernel.name = "fill";
    kernel.tensors = {c};
    kernel.axes = {"m", "n"};
    kernel.grid = {mib, 1};
    for (std::int64_t tile = 0; tile < mib; ++tile) {
        Phase phase;
        phase.count = kRows / 8;
        BoxWalk box;
        box.start = {tile * kRows, 0};
        box.step = {8, 0};
        box.extent = {8, kRowBytes};
        phase.stores = {box};
        kernel.programs.push_back(Program{{phase}});
    }
    kernel.resources.threads = 128;
    kernel.resources.registers_per_thread = 32;
    layout_tensors(kernel);
    return kernel;
}

}  // namespace l2lens::test
