// SPDX-License-Identifier: Apache-2.0
// norm_gate as a live kernel.
#include "gpu/kernels/norm_gate.hpp"
#include "gpu/live/live_operands.hpp"
#include "gpu/live/shaped_program.hpp"

namespace l2lens::gpu {
namespace {

class NormGateLaunch final : public LiveLaunch {
public:
    NormGateLaunch(const NormGateShape& shape, std::uint64_t seed)
        : shape_(shape),
          h_(random_bf16_operand(shape.rows * shape.dim, seed)),
          g_(random_bf16_operand(shape.rows * shape.dim, seed + 1)),
          n_(random_fp32_operand(shape.rows, seed + 2)),
          t_(poisoned_operand<std::uint16_t>(shape.fused ? 0 : shape.rows * shape.dim)),
          o_(poisoned_operand<std::uint16_t>(shape.rows * shape.dim)) {}
    int ctas_per_sm() const override { return norm_gate_ctas_per_sm(shape_); }
    void launch(const LaunchPlan& plan) override {
        launch_norm_gate(shape_, {h_.get(), n_.get(), g_.get(), t_.get(), o_.get()}, plan);
    }

private:
    NormGateShape shape_;
    DeviceBuffer<std::uint16_t> h_, g_;
    DeviceBuffer<float> n_;
    DeviceBuffer<std::uint16_t> t_, o_;
};

}  // namespace

std::unique_ptr<LiveProgram> make_live_norm_gate(const ParamList& given) {
    LiveParams params("norm_gate", given);
    NormGateShape shape;
    shape.rows = params.integer("rows", shape.rows);
    shape.dim = params.integer("dim", shape.dim);
    params.choice("dtype", "bf16", {"bf16"});
    shape.fused = params.choice("fused", "true", {"true", "false"}) == "true";
    shape.block = params.small_integer("block", shape.block);
    shape.warps = params.small_integer("warps", shape.warps);
    params.choice("path", "ld", {"ld"});
    LiveShape live;
    live.params = params.finish();
    check_norm_gate(shape);
    live.grid = live_grid(shape.tile_rows(), 1);
    return std::make_unique<ShapedProgram<NormGateShape, NormGateLaunch>>(shape, live);
}

}  // namespace l2lens::gpu
