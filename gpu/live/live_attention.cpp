// SPDX-License-Identifier: Apache-2.0
// attention as a live kernel.
#include "gpu/kernels/attention.hpp"
#include "gpu/live/live_operands.hpp"
#include "gpu/live/shaped_program.hpp"

namespace l2lens::gpu {
namespace {

class AttentionLaunch final : public LiveLaunch {
public:
    AttentionLaunch(const AttentionShape& shape, std::uint64_t seed)
        : shape_(shape),
          q_(normal_bf16_operand(elements(shape, shape.heads), seed)),
          k_(normal_bf16_operand(elements(shape, shape.kv_heads), seed + 1)),
          v_(normal_bf16_operand(elements(shape, shape.kv_heads), seed + 2)),
          o_(poisoned_operand<std::uint16_t>(elements(shape, shape.heads))),
          lse_(poisoned_operand<float>(shape.batch * shape.heads * shape.seq)) {}
    int ctas_per_sm() const override { return attention_ctas_per_sm(shape_); }
    void launch(const LaunchPlan& plan) override {
        launch_attention(shape_, {q_.get(), k_.get(), v_.get(), o_.get(), lse_.get()}, plan);
    }

private:
    static std::int64_t elements(const AttentionShape& shape, int heads) {
        return std::int64_t{shape.batch} * heads * shape.seq * shape.dim;
    }

    AttentionShape shape_;
    DeviceBuffer<std::uint16_t> q_, k_, v_, o_;
    DeviceBuffer<float> lse_;
};

}  // namespace

std::unique_ptr<LiveProgram> make_live_attention(const ParamList& given) {
    LiveParams params("attention", given);
    AttentionShape shape;
    shape.batch = params.small_integer("batch", shape.batch);
    shape.heads = params.small_integer("heads", shape.heads);
    shape.kv_heads = params.small_integer_or_auto("kv_heads");
    shape.seq = params.integer("seq", shape.seq);
    shape.dim = params.small_integer("dim", shape.dim);
    shape.bq = params.small_integer("bq", shape.bq);
    shape.bk = params.small_integer_or_auto("bk");
    shape.causal = params.choice("causal", "false", {"true", "false"}) == "true";
    shape.longest_first = params.choice("block_order", "up", {"up", "down"}) == "down";
    shape.stages = params.small_integer_or_auto("stages");
    params.choice("warps", "8", {"8"});
    params.choice("pipeline", "warp_specialized", {"warp_specialized"});
    params.choice("layout", "bhsd", {"bhsd"});
    params.choice("dtype", "bf16", {"bf16"});
    params.choice("path", "tma", {"tma"});
    params.choice("queries", "0", {"0"});
    params.choice("keep_q", "shared", {"shared"});
    params.choice("kv_loads", "together", {"together"});
    params.choice("o_store", "0", {"0"});
    if (shape.kv_heads == 0) shape.kv_heads = shape.heads;
    if (shape.bk == 0) shape.bk = 128;
    if (shape.stages == 0) shape.stages = 2;
    params.settle("kv_heads", shape.kv_heads);
    params.settle("bk", shape.bk);
    params.settle("stages", shape.stages);
    LiveShape live;
    live.params = params.finish();
    check_attention(shape);
    live.grid = live_grid(shape.tile_rows(), shape.tile_columns());
    return std::make_unique<ShapedProgram<AttentionShape, AttentionLaunch>>(shape, live);
}

}  // namespace l2lens::gpu
