// SPDX-License-Identifier: Apache-2.0
// gemm as a live kernel: normally distributed operands (zeros would run faster: less power), C poisoned.
#include <algorithm>

#include "gpu/device_buffer.hpp"
#include "gpu/kernels/fill.hpp"
#include "gpu/kernels/gemm.hpp"
#include "gpu/live/live_kernel.hpp"

namespace l2lens::gpu {
namespace {

class GemmLaunch final : public LiveLaunch {
public:
    GemmLaunch(const GemmShape& shape, std::uint64_t seed)
        : shape_(shape),
          a_(static_cast<std::size_t>(shape.m * shape.k)),
          b_(static_cast<std::size_t>(shape.n * shape.k)),
          c_(static_cast<std::size_t>(shape.m * shape.n)) {
        fill_normal_bf16(a_.get(), a_.size(), seed);
        fill_normal_bf16(b_.get(), b_.size(), seed + 1);
        c_.fill_bytes(0xFF);
        check_cuda(cudaDeviceSynchronize(), "filling the operands");
    }
    int ctas_per_sm() const override { return gemm_ctas_per_sm(shape_); }
    void launch(const LaunchPlan& plan) override {
        launch_gemm(shape_, {a_.get(), b_.get(), c_.get()}, plan);
    }

private:
    GemmShape shape_;
    DeviceBuffer<std::uint16_t> a_, b_, c_;
};

class GemmProgram final : public LiveProgram {
public:
    explicit GemmProgram(const ParamList& given) {
        LiveParams params("gemm", given);
        params.choice("dtype", "bf16", {"bf16"});
        const std::string layout = params.choice("layout", "tn", {"tn", "tt", "nn", "nt"});
        shape_.a_k_major = layout[0] == 't';
        shape_.b_k_major = layout[1] == 'n';
        shape_.m = params.integer("m", 8192);
        shape_.n = params.integer("n", 8192);
        shape_.k = params.integer("k", 8192);
        shape_.bm = params.small_integer("bm", 128);
        shape_.bn = params.small_integer("bn", 128);
        shape_.bk = params.small_integer("bk", 64);
        shape_.stages = params.small_integer_or_auto("stages");
        shape_.warps = params.small_integer_or_auto("warps");
        shape_.cluster_rows = params.small_integer("cluster_m", 1);
        shape_.cluster_columns = params.small_integer("cluster_n", 1);
        params.choice("pipeline", "warp_specialized", {"warp_specialized"});
        if (shape_.warps == 0) shape_.warps = shape_.bm * shape_.bn > 128 * 128 ? 8 : 4;
        if (shape_.stages == 0) shape_.stages = std::clamp(gemm_most_stages(shape_), 2, 4);
        params.settle("warps", shape_.warps);
        params.settle("stages", shape_.stages);
        params_ = params.finish();
        check_gemm(shape_);
    }

    LiveShape shape() const override {
        const GridShape grid{static_cast<std::int32_t>(shape_.tile_rows()),
                             static_cast<std::int32_t>(shape_.tile_columns())};
        return {params_, grid, shape_.cluster_rows, shape_.cluster_columns};
    }
    std::unique_ptr<LiveLaunch> prepare(std::uint64_t seed) const override {
        return std::make_unique<GemmLaunch>(shape_, seed);
    }

private:
    GemmShape shape_;
    ParamList params_;
};

}  // namespace

std::unique_ptr<LiveProgram> make_live_gemm(const ParamList& params) {
    return std::make_unique<GemmProgram>(params);
}

}  // namespace l2lens::gpu
