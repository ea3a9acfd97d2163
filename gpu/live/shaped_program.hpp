// SPDX-License-Identifier: Apache-2.0
// A LiveProgram for a kernel that is a shape and a launch. `Launch` is a LiveLaunch made of (shape, seed).
#pragma once

#include <memory>
#include <utility>

#include "gpu/live/live_kernel.hpp"

namespace l2lens::gpu {

template <class Shape, class Launch>
class ShapedProgram final : public LiveProgram {
public:
    ShapedProgram(Shape shape, LiveShape live) : shape_(std::move(shape)), live_(std::move(live)) {}
    LiveShape shape() const override { return live_; }
    std::unique_ptr<LiveLaunch> prepare(std::uint64_t seed) const override {
        return std::make_unique<Launch>(shape_, seed);
    }

private:
    Shape shape_;
    LiveShape live_;
};

inline GridShape live_grid(std::int64_t rows, std::int64_t columns) {
    return {static_cast<std::int32_t>(rows), static_cast<std::int32_t>(columns)};
}

}  // namespace l2lens::gpu
