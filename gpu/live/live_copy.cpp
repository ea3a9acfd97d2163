// SPDX-License-Identifier: Apache-2.0
// copy and transpose as live kernels.
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/copy.hpp"
#include "gpu/kernels/fill.hpp"
#include "gpu/live/live_kernel.hpp"

namespace l2lens::gpu {
namespace {

int bytes_of(const std::string& dtype) {
    return dtype == "fp32" ? 4 : dtype == "fp8" ? 1 : 2;
}

GridShape tiles(std::int64_t m, std::int64_t n, int bm, int bn) {
    return {static_cast<std::int32_t>((m + bm - 1) / bm), static_cast<std::int32_t>((n + bn - 1) / bn)};
}

// A of random bits, B poisoned.
struct Matrices {
    Matrices(std::int64_t elements, int element_bytes, std::uint64_t seed)
        : a(static_cast<std::size_t>((elements * element_bytes + 1) / 2)), b(a.size()) {
        fill_random_bf16(a.get(), a.size(), seed);
        b.fill_bytes(0xFF);
        check_cuda(cudaDeviceSynchronize(), "filling the operands");
    }
    DeviceBuffer<std::uint16_t> a, b;
};

class CopyLaunch final : public LiveLaunch {
public:
    CopyLaunch(const CopyShape& shape, std::uint64_t seed)
        : shape_(shape), data_(shape.m * shape.n, shape.element_bytes, seed) {}
    int ctas_per_sm() const override { return copy_ctas_per_sm(shape_); }
    void launch(const LaunchPlan& plan) override { launch_copy(shape_, data_.a.get(), data_.b.get(), plan); }

private:
    CopyShape shape_;
    Matrices data_;
};

class CopyProgram final : public LiveProgram {
public:
    explicit CopyProgram(const ParamList& given) {
        LiveParams params("copy", given);
        shape_.m = params.integer("m", 8192);
        shape_.n = params.integer("n", 8192);
        shape_.bm = params.small_integer("bm", 64);
        shape_.bn = params.small_integer("bn", 128);
        shape_.element_bytes = bytes_of(params.choice("dtype", "bf16", {"bf16", "fp16", "fp8", "fp32"}));
        shape_.path = params.choice("path", "tma", {"tma", "ld"}) == "tma" ? CopyPath::Tma : CopyPath::Load;
        params_ = params.finish();
        check_copy(shape_);
    }
    LiveShape shape() const override { return {params_, tiles(shape_.m, shape_.n, shape_.bm, shape_.bn)}; }
    std::unique_ptr<LiveLaunch> prepare(std::uint64_t seed) const override {
        return std::make_unique<CopyLaunch>(shape_, seed);
    }

private:
    CopyShape shape_;
    ParamList params_;
};

class TransposeLaunch final : public LiveLaunch {
public:
    TransposeLaunch(const TransposeShape& shape, std::uint64_t seed)
        : shape_(shape), data_(shape.m * shape.n, shape.element_bytes, seed) {}
    int ctas_per_sm() const override { return transpose_ctas_per_sm(shape_); }
    void launch(const LaunchPlan& plan) override {
        launch_transpose(shape_, data_.a.get(), data_.b.get(), plan);
    }

private:
    TransposeShape shape_;
    Matrices data_;
};

class TransposeProgram final : public LiveProgram {
public:
    explicit TransposeProgram(const ParamList& given) {
        LiveParams params("transpose", given);
        shape_.m = params.integer("m", 8192);
        shape_.n = params.integer("n", 8192);
        shape_.tile = params.small_integer("tile", 64);
        shape_.element_bytes = bytes_of(params.choice("dtype", "bf16", {"bf16", "fp16", "fp8", "fp32"}));
        params.choice("path", "ld", {"ld"});
        params_ = params.finish();
        check_transpose(shape_);
    }
    LiveShape shape() const override {
        return {params_, tiles(shape_.m, shape_.n, shape_.tile, shape_.tile)};
    }
    std::unique_ptr<LiveLaunch> prepare(std::uint64_t seed) const override {
        return std::make_unique<TransposeLaunch>(shape_, seed);
    }

private:
    TransposeShape shape_;
    ParamList params_;
};

}  // namespace

std::unique_ptr<LiveProgram> make_live_copy(const ParamList& params) {
    return std::make_unique<CopyProgram>(params);
}

std::unique_ptr<LiveProgram> make_live_transpose(const ParamList& params) {
    return std::make_unique<TransposeProgram>(params);
}

}  // namespace l2lens::gpu
