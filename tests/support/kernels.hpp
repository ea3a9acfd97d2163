// SPDX-License-Identifier: Apache-2.0
// Kernels small enough to count by hand.
#pragma once

#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"
#include "load/kernel_file.hpp"
#include "machine/machine.hpp"

namespace l2lens::test {

// The built-in GEMM: {"m=256", "n=384", ...}.
inline Kernel gemm(const std::vector<std::string>& arguments, const Machine& machine) {
    return load_kernel("gemm", arguments, &machine);
}

// Launch id = tile: row_major.
inline std::vector<std::int32_t> in_order(const Kernel& kernel) {
    std::vector<std::int32_t> launches(static_cast<std::size_t>(kernel.tiles()));
    std::iota(launches.begin(), launches.end(), 0);
    return launches;
}

// One CTA that loads `steps` lines, one after the other, and computes `math_cycles` on each.
inline Kernel one_cta(std::int64_t steps, double math_cycles, int stages, std::int64_t first_line = 0,
                      std::int64_t line_stride = 1) {
    constexpr std::int64_t kElements = 64;  // of two bytes: a line
    Tensor a;
    a.name = "A";
    a.rank = 2;
    a.shape = {first_line + steps * line_stride + 1, kElements};
    a.stride_bytes = {128, 2};
    a.element_bytes = 2;
    BoxWalk box;
    box.start = {first_line, 0};
    box.step = {line_stride, 0};
    box.extent = {1, kElements};
    Phase phase;
    phase.count = steps;
    phase.math_cycles = math_cycles;
    phase.loads = {box};
    Kernel kernel;
    kernel.name = "one_cta";
    kernel.tensors = {a};
    kernel.axes = {"m", "n"};
    kernel.grid = {1, 1};
    kernel.programs = {Program{{phase}}};
    kernel.stages = stages;
    kernel.resources.threads = 128;
    kernel.resources.registers_per_thread = 32;
    return kernel;
}

}  // namespace l2lens::test
