// SPDX-License-Identifier: Apache-2.0
// Does tfla_parallel, given the states at the chunks' starts, give what the mLSTM's own recurrence gives?
// Held against that recurrence, step by step in double on the CPU (xLSTM, arXiv 2405.04517, equations 19 to
// 27):
//   C_t = f C_{t-1} + i k_t v_t^T, n_t = f n_{t-1} + i k_t, h_t = C_t^T q / max(|n_t q|, 1).
// Exit 0, 1, or 77 without a GPU.
#include <algorithm>

#include "gpu/kernels/tfla_parallel.hpp"
#include "gpu/tests/check_run.hpp"

namespace l2lens::gpu {
namespace {

// Queries, weights and states are rounded to bf16 (2^-9) before they are multiplied.
constexpr double kRowTolerance = 0.015;  // of the length of a row, or of the mean row where that is larger

struct Problem {
    explicit Problem(const TflaShape& shape)
        : s(shape),
          rows(s.sequences() * s.seq),
          q(random_bf16s(rows * s.dqk, 51)),
          k(random_bf16s(rows * s.dqk, 52)),
          v(random_bf16s(rows * s.dhv, 53)),
          g(random_bf16s(rows * s.dhv, 54, 4)),
          i(random_floats(rows, 55, 2)),
          b(static_cast<std::size_t>(rows)),
          c_states(static_cast<std::size_t>(s.sequences() * (s.chunks() + 1) * s.dqk * s.dhv)),
          n_states(static_cast<std::size_t>(s.sequences() * (s.chunks() + 1) * s.dqk)),
          m_states(static_cast<std::size_t>(s.sequences() * (s.chunks() + 1))),
          h(static_cast<std::size_t>(rows * s.dhv)) {
        for (std::int64_t sequence = 0; sequence < s.sequences(); ++sequence) recur(sequence);
    }

    TflaShape s;
    std::int64_t rows;
    std::vector<std::uint16_t> q, k, v, g;
    std::vector<float> i, b;
    std::vector<float> c_states, n_states, m_states;  // before each chunk
    std::vector<double> h;

private:
    // Forget gates are sigmoids around 0.95; the stabiliser is the recurrence's own, max(log f + m, i).
    void recur(std::int64_t sequence) {
        const auto dqk = static_cast<std::size_t>(s.dqk);
        const auto dhv = static_cast<std::size_t>(s.dhv);
        std::vector<double> c(dqk * dhv);
        std::vector<double> n(dqk);
        double m = 0;
        double sum = 0;
        for (std::int64_t t = 0; t < s.seq; ++t) {
            if (t % s.chunk == 0) {
                keep_state(sequence, t / s.chunk, c, n, m);
                sum = 0;
            }
            const auto row = static_cast<std::size_t>(sequence * s.seq + t);
            const double log_forget = -std::log1p(std::exp(-3 - 2 * double{random_bf16(56, row)}));
            sum += log_forget;
            b[row] = static_cast<float>(sum);
            m = std::max(log_forget + m, double{i[row]});
            const double forget = std::exp(log_forget);
            const double input = std::exp(double{i[row]});
            double normaliser = 0;
            for (std::size_t x = 0; x < dqk; ++x) {
                const double key = from_bf16(k[row * dqk + x]);
                const double query = from_bf16(q[row * dqk + x]) / std::sqrt(s.dqk);
                n[x] = forget * n[x] + input * key;
                normaliser += n[x] * query;
                for (std::size_t y = 0; y < dhv; ++y) {
                    double& cell = c[x * dhv + y];
                    cell = forget * cell + input * key * from_bf16(v[row * dhv + y]);
                    h[row * dhv + y] += cell * query;
                }
            }
            for (std::size_t y = 0; y < dhv; ++y) h[row * dhv + y] /= std::max(std::abs(normaliser), 1.0);
        }
    }

    void keep_state(std::int64_t sequence, std::int64_t chunk, const std::vector<double>& c,
                    const std::vector<double>& n, double m) {
        const auto state = static_cast<std::size_t>(sequence * (s.chunks() + 1) + chunk);
        for (std::size_t x = 0; x < c.size(); ++x)
            c_states[state * c.size() + x] = static_cast<float>(c[x] * std::exp(-m));
        for (std::size_t x = 0; x < n.size(); ++x)
            n_states[state * n.size() + x] = static_cast<float>(n[x] * std::exp(-m));
        m_states[state] = static_cast<float>(m);
    }
};

double length_of(const double* row, std::int64_t count) {
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += row[i] * row[i];
    return std::sqrt(sum);
}

bool is_right(const Problem& p, bool fused, const std::string& order, LaunchMode mode) {
    TflaShape s = p.s;
    s.fused = fused;
    const auto q = on_device(p.q);
    const auto k = on_device(p.k);
    const auto v = on_device(p.v);
    const auto g = on_device(p.g);
    const auto c = on_device(p.c_states);
    const auto n = on_device(p.n_states);
    const auto m = on_device(p.m_states);
    const auto b = on_device(p.b);
    const auto i = on_device(p.i);
    auto out = poisoned<std::uint16_t>(p.rows * s.dhv);
    auto n_out = poisoned<float>(p.rows);
    auto m_out = poisoned<float>(p.rows);
    run_in_order(grid_of(s.sequences() * s.chunks(), s.parts()), order, mode, [&](const LaunchPlan& plan) {
        launch_tfla_parallel(s,
                             {q.get(), k.get(), v.get(), g.get(), c.get(), n.get(), m.get(), b.get(), i.get(),
                              out.get(), n_out.get(), m_out.get()},
                             plan);
    });
    const auto h = out.to_host();
    double mean = 0;
    for (std::int64_t row = 0; row < p.rows; ++row)
        mean += length_of(&p.h[static_cast<std::size_t>(row * s.dhv)], s.dhv) / static_cast<double>(p.rows);
    for (std::int64_t row = 0; row < p.rows; ++row) {
        std::vector<double> off(static_cast<std::size_t>(s.dhv));
        const auto first = static_cast<std::size_t>(row * s.dhv);
        for (std::size_t y = 0; y < off.size(); ++y) {
            const double gate = fused ? 1 / (1 + std::exp(-double{from_bf16(p.g[first + y])})) : 1;
            off[y] = from_bf16(h[first + y]) - p.h[first + y] * gate;
        }
        const double allowed = kRowTolerance * std::max(mean, length_of(&p.h[first], s.dhv));
        if (!(length_of(off.data(), s.dhv) <= allowed)) {
            std::printf("row %ld off by %f, allowed %f\n", row, length_of(off.data(), s.dhv), allowed);
            return false;
        }
    }
    for (const float value : n_out.to_host())
        if (!(value > 0)) return false;
    return true;
}

int check_all() {
    CheckCount count;
    const TflaShape shapes[] = {{1, 2, 512, 64, 64, 256, 64, 64, 64, 128, false},
                                {2, 1, 384, 128, 128, 128, 64, 64, 64, 128, false},
                                {1, 1, 256, 64, 256, 64, 64, 64, 64, 128, false},
                                {1, 3, 256, 192, 128, 256, 64, 64, 64, 64, false}};
    for (const TflaShape& shape : shapes) {
        const Problem problem(shape);
        for (const LaunchMode mode : kAllModes)
            for (const bool fused : {false, true})
                count.note(is_right(problem, fused, "group_m:4", mode),
                           "tfla_parallel seq " + std::to_string(shape.seq) + ", dqk " +
                               std::to_string(shape.dqk) + ", dhv " + std::to_string(shape.dhv) + ", chunk " +
                               std::to_string(shape.chunk) + (fused ? ", fused" : "") + ", mode " +
                               std::to_string(static_cast<int>(mode)));
    }
    return count.report("linear attentions");
}

}  // namespace
}  // namespace l2lens::gpu

int main() {
    return l2lens::gpu::run_checks(l2lens::gpu::check_all);
}
