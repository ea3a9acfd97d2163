// SPDX-License-Identifier: Apache-2.0
// Is attention's output softmax(Q K^T / sqrt(dim)) V, causal or not, with shared heads, at ragged lengths?
// Held against the formula in double on the CPU, row by row: weights are rounded to bf16 (2^-9) before they
// multiply V, and the output again, so a row may be off by a fraction of a percent of its length. Exit 0, 1,
// or 77 without a GPU of compute capability 9.0.
#include <algorithm>
#include <array>

#include "gpu/kernels/attention.hpp"
#include "gpu/tests/check_run.hpp"

namespace l2lens::gpu {
namespace {

constexpr double kRowTolerance = 0.01;  // of a row's length
constexpr double kLogTolerance = 1e-3;

struct Data {
    explicit Data(const AttentionShape& s)
        : q(random_bf16s(elements(s, s.heads), 41, 8)),  // scores of several units: a softmax with peaks
          k(random_bf16s(elements(s, s.kv_heads), 42)),
          v(random_bf16s(elements(s, s.kv_heads), 43)) {}
    static std::int64_t elements(const AttentionShape& s, int heads) {
        return std::int64_t{s.batch} * heads * s.seq * s.dim;
    }
    std::vector<std::uint16_t> q, k, v;
};

struct Row {
    std::vector<double> out;
    double lse;
};

Row expected_row(const AttentionShape& s, const Data& data, std::int64_t head, std::int64_t query) {
    const std::int64_t kv_head = head / s.heads * s.kv_heads + head % s.heads / (s.heads / s.kv_heads);
    const auto dim = static_cast<std::size_t>(s.dim);
    const auto* q = &data.q[static_cast<std::size_t>(head * s.seq + query) * dim];
    const auto* k = &data.k[static_cast<std::size_t>(kv_head * s.seq) * dim];
    const auto* v = &data.v[static_cast<std::size_t>(kv_head * s.seq) * dim];
    const auto keys = static_cast<std::size_t>(s.causal ? query + 1 : s.seq);
    std::vector<double> score(keys);
    for (std::size_t j = 0; j < keys; ++j) {
        for (std::size_t d = 0; d < dim; ++d) score[j] += from_bf16(q[d]) * from_bf16(k[j * dim + d]);
        score[j] /= std::sqrt(s.dim);
    }
    const double most = *std::max_element(score.begin(), score.end());
    Row row{std::vector<double>(dim), 0};
    double sum = 0;
    for (std::size_t j = 0; j < keys; ++j) {
        const double weight = std::exp(score[j] - most);
        sum += weight;
        for (std::size_t d = 0; d < dim; ++d) row.out[d] += weight * from_bf16(v[j * dim + d]);
    }
    for (double& x : row.out) x /= sum;
    row.lse = most + std::log(sum);
    return row;
}

bool row_is_right(const Row& expected, const std::uint16_t* got, float lse) {
    double error = 0;
    double length = 0;
    for (std::size_t d = 0; d < expected.out.size(); ++d) {
        error += std::pow(from_bf16(got[d]) - expected.out[d], 2);
        length += std::pow(expected.out[d], 2);
    }
    return std::sqrt(error) <= kRowTolerance * std::sqrt(length) && is_near(lse, expected.lse, kLogTolerance);
}

// Every `step`-th row of every head, and what lies behind the outputs must stay poisoned.
bool is_right(const AttentionShape& s, const std::string& order, LaunchMode mode, std::int64_t step) {
    constexpr std::int64_t kGuard = 4096;
    const Data data(s);
    const auto q = on_device(data.q);
    const auto k = on_device(data.k);
    const auto v = on_device(data.v);
    const std::int64_t rows = s.tile_rows() * s.seq;
    auto o = poisoned<std::uint16_t>(rows * s.dim + kGuard);
    auto lse = poisoned<float>(rows + kGuard);
    run_in_order(grid_of(s.tile_rows(), s.tile_columns()), order, mode, [&](const LaunchPlan& plan) {
        launch_attention(s, {q.get(), k.get(), v.get(), o.get(), lse.get()}, plan);
    });
    const auto out = o.to_host();
    const auto logs = lse.to_host();
    for (std::int64_t row = 0; row < rows; row += step) {
        const Row expected = expected_row(s, data, row / s.seq, row % s.seq);
        if (!row_is_right(expected, &out[static_cast<std::size_t>(row * s.dim)],
                          logs[static_cast<std::size_t>(row)])) {
            std::printf("head %ld, query %ld: lse %f, expected %f; o[0] %f, expected %f\n", row / s.seq,
                        row % s.seq, logs[static_cast<std::size_t>(row)], expected.lse,
                        from_bf16(out[static_cast<std::size_t>(row * s.dim)]), expected.out[0]);
            return false;
        }
    }
    for (std::size_t i = static_cast<std::size_t>(rows * s.dim); i < out.size(); ++i)
        if (out[i] != 0xFFFF) return false;
    return true;
}

std::string describe(const AttentionShape& s, const std::string& order, LaunchMode mode) {
    return "attention batch " + std::to_string(s.batch) + ", heads " + std::to_string(s.heads) + "/" +
           std::to_string(s.kv_heads) + ", seq " + std::to_string(s.seq) + ", dim " + std::to_string(s.dim) +
           ", bk " + std::to_string(s.bk) + ", " + std::to_string(s.stages) + " stages" +
           (s.causal ? ", causal, " : ", ") + order + ", mode " + std::to_string(static_cast<int>(mode));
}

int check_all() {
    if (inspect_device().gpus.front().compute_major != 9)
        throw Unavailable("attention needs a GPU of compute capability 9.0");
    CheckCount count;
    const std::array<std::int64_t, 4> lengths{1, 128, 333, 1024};
    for (const std::int64_t seq : lengths)
        for (const int dim : {64, 128})
            for (const int bk : {64, 128})
                for (const bool causal : {false, true}) {
                    const AttentionShape shape{2,   4,  seq == 333 ? 2 : 4, seq,   dim,
                                               128, bk, dim == 64 ? 3 : 2,  causal};
                    for (const LaunchMode mode : kAllModes)
                        count.note(is_right(shape, "column_major", mode, seq > 500 ? 37 : 5),
                                   describe(shape, "column_major", mode));
                }
    // Many tiles for each CTA, so that both rings wrap, in an order that mixes the heads; longer ones too.
    AttentionShape many{3, 8, 2, 2000, 128, 128, 128, 2, true};
    for (const LaunchMode mode : kAllModes)
        for (const bool longest_first : {false, true}) {
            many.longest_first = longest_first;
            count.note(is_right(many, "group_m:5", mode, 997), describe(many, "group_m:5", mode));
        }
    return count.report("attentions");
}

}  // namespace
}  // namespace l2lens::gpu

int main() {
    return l2lens::gpu::run_checks(l2lens::gpu::check_all);
}
