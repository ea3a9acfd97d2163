// SPDX-License-Identifier: Apache-2.0
// tfla_parallel as a live kernel.
#include <vector>

#include "gpu/kernels/tfla_parallel.hpp"
#include "gpu/live/live_operands.hpp"
#include "gpu/live/shaped_program.hpp"

namespace l2lens::gpu {
namespace {

// Every forget gate the same: its logarithm summed since the chunk began.
std::vector<float> even_decay(const TflaShape& shape) {
    constexpr float kLogForget = -0.05f;
    std::vector<float> b(static_cast<std::size_t>(shape.sequences() * shape.seq));
    for (std::size_t i = 0; i < b.size(); ++i)
        b[i] = kLogForget * static_cast<float>(i % static_cast<std::size_t>(shape.chunk) + 1);
    return b;
}

class TflaLaunch final : public LiveLaunch {
public:
    TflaLaunch(const TflaShape& shape, std::uint64_t seed)
        : shape_(shape),
          q_(random_bf16_operand(rows() * shape.dqk, seed)),
          k_(random_bf16_operand(rows() * shape.dqk, seed + 1)),
          v_(random_bf16_operand(rows() * shape.dhv, seed + 2)),
          g_(random_bf16_operand(shape.fused ? rows() * shape.dhv : 0, seed + 3)),
          h_(poisoned_operand<std::uint16_t>(rows() * shape.dhv)),
          c_(random_fp32_operand(states() * shape.dqk * shape.dhv, seed + 4)),
          n_(random_fp32_operand(states() * shape.dqk, seed + 5)),
          m_(random_fp32_operand(states(), seed + 6)),
          b_(std::span<const float>(even_decay(shape))),
          i_(random_fp32_operand(rows(), seed + 7)),
          n_out_(poisoned_operand<float>(rows())),
          m_out_(poisoned_operand<float>(rows())) {}
    int ctas_per_sm() const override { return tfla_parallel_ctas_per_sm(shape_); }
    void launch(const LaunchPlan& plan) override {
        launch_tfla_parallel(shape_,
                             {q_.get(), k_.get(), v_.get(), g_.get(), c_.get(), n_.get(), m_.get(), b_.get(),
                              i_.get(), h_.get(), n_out_.get(), m_out_.get()},
                             plan);
    }

private:
    std::int64_t rows() const { return shape_.sequences() * shape_.seq; }
    std::int64_t states() const { return shape_.sequences() * (shape_.chunks() + 1); }

    TflaShape shape_;
    DeviceBuffer<std::uint16_t> q_, k_, v_, g_, h_;
    DeviceBuffer<float> c_, n_, m_, b_, i_, n_out_, m_out_;
};

}  // namespace

std::unique_ptr<LiveProgram> make_live_tfla_parallel(const ParamList& given) {
    LiveParams params("tfla_parallel", given);
    TflaShape shape;
    shape.batch = params.small_integer("batch", shape.batch);
    shape.heads = params.small_integer("heads", shape.heads);
    shape.seq = params.integer("seq", shape.seq);
    shape.dqk = params.small_integer("dqk", shape.dqk);
    shape.dhv = params.small_integer("dhv", shape.dhv);
    shape.chunk = params.small_integer("chunk", shape.chunk);
    shape.bq = params.small_integer("bq", shape.bq);
    shape.bkv = params.small_integer("bkv", shape.bkv);
    shape.bdk = params.small_integer("bdk", shape.bdk);
    shape.bdv = params.small_integer("bdv", shape.bdv);
    params.choice("dtype", "bf16", {"bf16"});
    shape.fused = params.choice("fused", "false", {"true", "false"}) == "true";
    params.choice("warps", "4", {"4"});
    params.choice("path", "ld", {"ld"});
    LiveShape live;
    live.params = params.finish();
    check_tfla_parallel(shape);
    live.outer = static_cast<std::int32_t>(shape.sequences());
    live.grid = live_grid(shape.sequences() * shape.chunks(), shape.parts());
    return std::make_unique<ShapedProgram<TflaShape, TflaLaunch>>(shape, live);
}

}  // namespace l2lens::gpu
