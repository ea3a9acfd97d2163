// SPDX-License-Identifier: Apache-2.0
// Does stencil2d compute its formula, at the edges too and sweep after sweep? Held against the formula in
// double on the CPU. Exit 0, 1, or 77 without a GPU.
#include <cstdlib>
#include <utility>

#include "gpu/kernels/stencil2d.hpp"
#include "gpu/tests/check_run.hpp"

namespace l2lens::gpu {
namespace {

std::vector<double> swept(const StencilShape& s, const std::vector<double>& in) {
    std::vector<double> out(in.size());
    for (std::int64_t i = 0; i < s.m; ++i)
        for (std::int64_t j = 0; j < s.n; ++j) {
            double sum = 0;
            for (int di = -s.radius; di <= s.radius; ++di)
                for (int dj = -s.radius; dj <= s.radius; ++dj) {
                    const bool self = di == 0 && dj == 0;
                    const bool on_axis = di == 0 || dj == 0;
                    const bool inside = i + di >= 0 && i + di < s.m && j + dj >= 0 && j + dj < s.n;
                    if (!self && inside && (s.box || on_axis))
                        sum += in[static_cast<std::size_t>((i + di) * s.n + j + dj)];
                }
            const auto at = static_cast<std::size_t>(i * s.n + j);
            out[at] = 0.5 * in[at] + 0.5 * sum / s.neighbours();
        }
    return out;
}

bool is_right(const StencilShape& s, LaunchMode mode) {
    const auto start = random_floats(s.m * s.n, 31);
    auto a = on_device(start);
    auto b = poisoned<float>(s.m * s.n);
    run_in_order(grid_of(s.tile_rows(), s.tile_columns()), "hilbert", mode,
                 [&](const LaunchPlan& plan) { launch_stencil2d(s, a.get(), b.get(), plan); });
    std::vector<double> expected(start.begin(), start.end());
    for (int sweep = 0; sweep < s.sweeps; ++sweep) expected = swept(s, expected);
    const auto got = (s.sweeps % 2 == 0 ? a : b).to_host();
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (!is_near(got[i], expected[i], 1e-6)) return false;
    return true;
}

int check_all() {
    CheckCount count;
    const std::pair<std::int64_t, std::int64_t> sizes[] = {{256, 512}, {100, 132}, {97, 131}, {5, 700}};
    const std::pair<int, int> tiles[] = {{32, 128}, {8, 64}, {33, 40}};
    for (const auto& [m, n] : sizes)
        for (const auto& [bm, bn] : tiles)
            for (int radius = 1; radius <= kMostStencilRadius; ++radius)
                for (const bool box : {false, true}) {
                    const LaunchMode mode = kAllModes[(radius + bm) % 3];
                    const StencilShape shape{m, n, radius, bm, bn, box, radius, radius == 3 ? 4 : 8};
                    count.note(is_right(shape, mode),
                               "stencil2d " + std::to_string(m) + "x" + std::to_string(n) + ", radius " +
                                   std::to_string(radius) + (box ? " box" : " star") + ", tile " +
                                   std::to_string(bm) + "x" + std::to_string(bn) + ", mode " +
                                   std::to_string(static_cast<int>(mode)));
                }
    return count.report("stencils");
}

}  // namespace
}  // namespace l2lens::gpu

int main() {
    return l2lens::gpu::run_checks(l2lens::gpu::check_all);
}
