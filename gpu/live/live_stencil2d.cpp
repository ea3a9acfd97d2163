// SPDX-License-Identifier: Apache-2.0
// stencil2d as a live kernel.
#include "gpu/kernels/stencil2d.hpp"
#include "gpu/live/live_operands.hpp"
#include "gpu/live/shaped_program.hpp"

namespace l2lens::gpu {
namespace {

class StencilLaunch final : public LiveLaunch {
public:
    StencilLaunch(const StencilShape& shape, std::uint64_t seed)
        : shape_(shape),
          a_(random_fp32_operand(shape.m * shape.n, seed)),
          b_(poisoned_operand<float>(shape.m * shape.n)) {}
    int ctas_per_sm() const override { return stencil2d_ctas_per_sm(shape_); }
    void launch(const LaunchPlan& plan) override { launch_stencil2d(shape_, a_.get(), b_.get(), plan); }

private:
    StencilShape shape_;
    DeviceBuffer<float> a_, b_;
};

}  // namespace

std::unique_ptr<LiveProgram> make_live_stencil2d(const ParamList& given) {
    LiveParams params("stencil2d", given);
    StencilShape shape;
    shape.m = params.integer("m", shape.m);
    shape.n = params.integer("n", shape.n);
    shape.radius = params.small_integer("radius", shape.radius);
    shape.bm = params.small_integer("bm", shape.bm);
    shape.bn = params.small_integer("bn", shape.bn);
    shape.box = params.choice("shape", "star", {"star", "box"}) == "box";
    shape.sweeps = params.small_integer("sweeps", shape.sweeps);
    params.choice("dtype", "fp32", {"fp32"});
    params.choice("path", "ld", {"ld"});
    shape.warps = params.small_integer("warps", shape.warps);
    LiveShape live;
    live.params = params.finish();
    check_stencil2d(shape);
    live.grid = live_grid(shape.tile_rows(), shape.tile_columns());
    return std::make_unique<ShapedProgram<StencilShape, StencilLaunch>>(shape, live);
}

}  // namespace l2lens::gpu
