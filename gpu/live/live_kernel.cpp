// SPDX-License-Identifier: Apache-2.0
#include "gpu/live/live_kernel.hpp"

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace l2lens::gpu {
namespace {

struct Row {
    const char* name;
    std::unique_ptr<LiveProgram> (*make)(const ParamList&);
};

constexpr Row kKernels[] = {
    {"gemm", make_live_gemm},
    {"copy", make_live_copy},
    {"transpose", make_live_transpose},
    {"softmax", make_live_softmax},
    {"layernorm", make_live_layernorm},
    {"norm_gate", make_live_norm_gate},
    {"stencil2d", make_live_stencil2d},
    {"attention", make_live_attention},
    {"tfla_parallel", make_live_tfla_parallel},
};

}  // namespace

std::vector<std::string> live_kernels() {
    std::vector<std::string> names;
    for (const Row& row : kKernels) names.emplace_back(row.name);
    return names;
}

std::unique_ptr<LiveProgram> make_live_program(const LiveKernel& kernel) {
    for (const Row& row : kKernels)
        if (kernel.name == row.name) return row.make(kernel.params);
    const auto names = live_kernels();
    throw BadInput("no kernel '" + kernel.name + "' on the GPU" + suggestion(kernel.name, names));
}

LiveShape describe_live(const LiveKernel& kernel) {
    return make_live_program(kernel)->shape();
}

}  // namespace l2lens::gpu
