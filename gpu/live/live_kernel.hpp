// SPDX-License-Identifier: Apache-2.0
// What run_live() asks of a kernel. A kernel is one file: its parameters, its operands, its launch; and one
// row of the table in live_kernel.cpp.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "gpu/kernels/launch.hpp"
#include "gpu/live/live.hpp"

namespace l2lens::gpu {

// Operands on the device, ready to launch.
class LiveLaunch {
public:
    virtual ~LiveLaunch() = default;
    virtual int ctas_per_sm() const = 0;
    virtual void launch(const LaunchPlan& plan) = 0;
};

// A kernel with its parameters resolved; no GPU yet.
class LiveProgram {
public:
    virtual ~LiveProgram() = default;
    virtual LiveShape shape() const = 0;
    virtual std::unique_ptr<LiveLaunch> prepare(std::uint64_t seed) const = 0;
};

std::unique_ptr<LiveProgram> make_live_program(const LiveKernel& kernel);

// The rows of the table.
std::unique_ptr<LiveProgram> make_live_gemm(const ParamList& params);
std::unique_ptr<LiveProgram> make_live_copy(const ParamList& params);
std::unique_ptr<LiveProgram> make_live_transpose(const ParamList& params);
std::unique_ptr<LiveProgram> make_live_softmax(const ParamList& params);
std::unique_ptr<LiveProgram> make_live_layernorm(const ParamList& params);
std::unique_ptr<LiveProgram> make_live_norm_gate(const ParamList& params);
std::unique_ptr<LiveProgram> make_live_stencil2d(const ParamList& params);
std::unique_ptr<LiveProgram> make_live_attention(const ParamList& params);
std::unique_ptr<LiveProgram> make_live_tfla_parallel(const ParamList& params);

}  // namespace l2lens::gpu
