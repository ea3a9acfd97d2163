// SPDX-License-Identifier: Apache-2.0
// Do softmax, layernorm and norm_gate compute what their formulas say, in every shape, mode and order? Held
// against the formulas in double on the CPU. Exit 0, 1, or 77 without a GPU.
#include <algorithm>

#include "gpu/kernels/layernorm.hpp"
#include "gpu/kernels/norm_gate.hpp"
#include "gpu/kernels/softmax.hpp"
#include "gpu/tests/check_run.hpp"

namespace l2lens::gpu {
namespace {

std::string describe(const RowShape& s, LaunchMode mode) {
    return std::to_string(s.rows) + "x" + std::to_string(s.cols) + ", " + std::to_string(s.chunks) +
           " chunks, " + std::to_string(s.passes) + " passes, " + std::to_string(s.warps) + " warps, mode " +
           std::to_string(static_cast<int>(mode));
}

bool softmax_is_right(const RowShape& s, LaunchMode mode) {
    const auto x = random_bf16s(s.rows * s.cols, 7, 8);  // up to e^8 apart
    const auto in = on_device(x);
    auto out = poisoned<std::uint16_t>(s.rows * s.cols);
    run_in_order(grid_of(s.rows, s.chunks), "group_m:3", mode,
                 [&](const LaunchPlan& plan) { launch_softmax(s, in.get(), out.get(), plan); });
    const auto y = out.to_host();
    for (std::int64_t row = 0; row < s.rows; ++row) {
        const auto* xs = &x[static_cast<std::size_t>(row * s.cols)];
        const auto* ys = &y[static_cast<std::size_t>(row * s.cols)];
        double most = -1e30;
        for (std::int64_t i = 0; i < s.cols; ++i) most = std::max(most, double{from_bf16(xs[i])});
        double sum = 0;
        for (std::int64_t i = 0; i < s.cols; ++i) sum += std::exp(from_bf16(xs[i]) - most);
        for (std::int64_t i = 0; i < s.cols; ++i)
            if (!is_near_bf16(ys[i], std::exp(from_bf16(xs[i]) - most) / sum, 1e-9)) return false;
    }
    return true;
}

bool layernorm_is_right(const RowShape& s, LaunchMode mode) {
    const auto x = random_bf16s(s.rows * s.cols, 11, 4);
    const auto w = random_bf16s(s.cols, 12);
    const auto b = random_bf16s(s.cols, 13);
    const auto x_in = on_device(x);
    const auto w_in = on_device(w);
    const auto b_in = on_device(b);
    auto out = poisoned<std::uint16_t>(s.rows * s.cols);
    auto mean_out = poisoned<float>(s.rows);
    auto rstd_out = poisoned<float>(s.rows);
    run_in_order(grid_of(s.rows, s.chunks), "group_m:3", mode, [&](const LaunchPlan& plan) {
        launch_layernorm(s, {x_in.get(), w_in.get(), b_in.get(), out.get(), mean_out.get(), rstd_out.get()},
                         plan);
    });
    const auto y = out.to_host();
    const auto means = mean_out.to_host();
    const auto rstds = rstd_out.to_host();
    for (std::int64_t row = 0; row < s.rows; ++row) {
        const auto* xs = &x[static_cast<std::size_t>(row * s.cols)];
        const auto* ys = &y[static_cast<std::size_t>(row * s.cols)];
        const auto n = static_cast<double>(s.cols);
        double mean = 0;
        for (std::int64_t i = 0; i < s.cols; ++i) mean += from_bf16(xs[i]) / n;
        double variance = 0;
        for (std::int64_t i = 0; i < s.cols; ++i) variance += std::pow(from_bf16(xs[i]) - mean, 2) / n;
        const double rstd = 1 / std::sqrt(variance + double{kLayernormEpsilon});
        if (!is_near(means[static_cast<std::size_t>(row)], mean, 1e-5) ||
            !is_near(rstds[static_cast<std::size_t>(row)], rstd, 1e-5 * rstd))
            return false;
        for (std::int64_t i = 0; i < s.cols; ++i) {
            const auto c = static_cast<std::size_t>(i);
            if (!is_near_bf16(ys[i], (from_bf16(xs[i]) - mean) * rstd * from_bf16(w[c]) + from_bf16(b[c]),
                              1e-5))
                return false;
        }
    }
    return true;
}

bool norm_gate_is_right(const NormGateShape& s, LaunchMode mode) {
    const auto h = random_bf16s(s.rows * s.dim, 21, 4);
    const auto g = random_bf16s(s.rows * s.dim, 22, 4);
    const auto n = random_floats(s.rows, 23, 4);  // on both sides of |n| = 1
    const auto h_in = on_device(h);
    const auto g_in = on_device(g);
    const auto n_in = on_device(n);
    auto between = poisoned<std::uint16_t>(s.rows * s.dim);
    auto out = poisoned<std::uint16_t>(s.rows * s.dim);
    run_in_order(grid_of(s.tile_rows(), 1), "random:5", mode, [&](const LaunchPlan& plan) {
        launch_norm_gate(s, {h_in.get(), n_in.get(), g_in.get(), between.get(), out.get()}, plan);
    });
    const auto o = out.to_host();
    const auto t = between.to_host();
    for (std::int64_t row = 0; row < s.rows; ++row)
        for (std::int64_t i = 0; i < s.dim; ++i) {
            const auto at = static_cast<std::size_t>(row * s.dim + i);
            double x = from_bf16(h[at]) / std::max(1.0, std::abs(double{n[static_cast<std::size_t>(row)]}));
            if (!s.fused) {
                if (!is_near_bf16(t[at], x)) return false;
                x = from_bf16(t[at]);  // the second launch starts from what the first one rounded
            }
            if (!is_near_bf16(o[at], x / (1 + std::exp(-double{from_bf16(g[at])})))) return false;
        }
    return true;
}

int check_all() {
    CheckCount count;
    const RowShape shapes[] = {
        {7, 8, 1, 1, 1},     {77, 1000, 1, 1, 2}, {130, 1024, 1, 1, 8}, {33, 5000, 1, 1, 8},
        {20, 8192, 1, 1, 8}, {9, 16384, 1, 1, 8}, {5, 32768, 1, 1, 8},  {5, 65536, 1, 1, 16},
        {40, 1016, 1, 2, 4}, {40, 1016, 1, 3, 4}, {11, 40000, 1, 2, 8}, {11, 40000, 1, 3, 16},
        {23, 8192, 8, 2, 8}, {23, 8192, 8, 3, 8}, {6, 65536, 32, 2, 8}, {6, 32768, 16, 3, 4}};
    for (const RowShape& shape : shapes)
        for (const LaunchMode mode : kAllModes) {
            count.note(softmax_is_right(shape, mode), "softmax " + describe(shape, mode));
            count.note(layernorm_is_right(shape, mode), "layernorm " + describe(shape, mode));
        }
    const NormGateShape gates[] = {{1000, 64, 64, 8}, {777, 128, 32, 4}, {50, 1024, 7, 16}, {129, 8, 128, 2}};
    for (NormGateShape shape : gates)
        for (const LaunchMode mode : kAllModes)
            for (const bool fused : {true, false}) {
                shape.fused = fused;
                count.note(norm_gate_is_right(shape, mode), "norm_gate " + std::to_string(shape.rows) + "x" +
                                                                std::to_string(shape.dim) +
                                                                (fused ? " fused" : " unfused") + ", mode " +
                                                                std::to_string(static_cast<int>(mode)));
            }
    return count.report("row kernels");
}

}  // namespace
}  // namespace l2lens::gpu

int main() {
    return l2lens::gpu::run_checks(l2lens::gpu::check_all);
}
