// SPDX-License-Identifier: Apache-2.0
// softmax and layernorm as live kernels: both take a RowShape.
#include "gpu/kernels/layernorm.hpp"
#include "gpu/kernels/softmax.hpp"
#include "gpu/live/live_operands.hpp"
#include "gpu/live/shaped_program.hpp"

namespace l2lens::gpu {
namespace {

struct RowProgram {
    RowShape shape;
    LiveShape live;
};

RowProgram read_rows(const char* kernel, const ParamList& given) {
    LiveParams params(kernel, given);
    RowProgram program;
    RowShape& shape = program.shape;
    shape.rows = params.integer("rows", shape.rows);
    shape.cols = params.integer("cols", shape.cols);
    params.choice("dtype", "bf16", {"bf16"});
    shape.chunks = params.small_integer("chunks", shape.chunks);
    shape.passes = params.small_integer("passes", shape.passes);
    shape.warps = params.small_integer("warps", shape.warps);
    params.choice("path", "ld", {"ld"});
    program.live.params = params.finish();
    return program;
}

class SoftmaxLaunch final : public LiveLaunch {
public:
    SoftmaxLaunch(const RowShape& shape, std::uint64_t seed)
        : shape_(shape),
          x_(random_bf16_operand(shape.rows * shape.cols, seed)),
          y_(poisoned_operand<std::uint16_t>(shape.rows * shape.cols)) {}
    int ctas_per_sm() const override { return softmax_ctas_per_sm(shape_); }
    void launch(const LaunchPlan& plan) override { launch_softmax(shape_, x_.get(), y_.get(), plan); }

private:
    RowShape shape_;
    DeviceBuffer<std::uint16_t> x_, y_;
};

class LayernormLaunch final : public LiveLaunch {
public:
    LayernormLaunch(const RowShape& shape, std::uint64_t seed)
        : shape_(shape),
          x_(random_bf16_operand(shape.rows * shape.cols, seed)),
          w_(random_bf16_operand(shape.cols, seed + 1)),
          b_(random_bf16_operand(shape.cols, seed + 2)),
          y_(poisoned_operand<std::uint16_t>(shape.rows * shape.cols)),
          mean_(poisoned_operand<float>(shape.rows)),
          rstd_(poisoned_operand<float>(shape.rows)) {}
    int ctas_per_sm() const override { return layernorm_ctas_per_sm(shape_); }
    void launch(const LaunchPlan& plan) override {
        launch_layernorm(shape_, {x_.get(), w_.get(), b_.get(), y_.get(), mean_.get(), rstd_.get()}, plan);
    }

private:
    RowShape shape_;
    DeviceBuffer<std::uint16_t> x_, w_, b_, y_;
    DeviceBuffer<float> mean_, rstd_;
};

}  // namespace

std::unique_ptr<LiveProgram> make_live_softmax(const ParamList& params) {
    RowProgram program = read_rows("softmax", params);
    check_softmax(program.shape);
    program.live.grid = live_grid(program.shape.rows, program.shape.chunks);
    return std::make_unique<ShapedProgram<RowShape, SoftmaxLaunch>>(program.shape, program.live);
}

std::unique_ptr<LiveProgram> make_live_layernorm(const ParamList& params) {
    RowProgram program = read_rows("layernorm", params);
    check_layernorm(program.shape);
    program.live.grid = live_grid(program.shape.rows, program.shape.chunks);
    return std::make_unique<ShapedProgram<RowShape, LayernormLaunch>>(program.shape, program.live);
}

}  // namespace l2lens::gpu
