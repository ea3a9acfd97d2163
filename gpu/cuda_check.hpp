// SPDX-License-Identifier: Apache-2.0
// Every CUDA call is checked: what was being done, and what CUDA says. Private to gpu/ (includes the
// runtime's header).
#pragma once

#include <string>

#include <cuda_runtime_api.h>

#include "base/error.hpp"

namespace l2lens::gpu {

inline void check_cuda(cudaError_t status, const std::string& doing) {
    if (status == cudaSuccess) return;
    const std::string message =
        doing + ": " + cudaGetErrorName(status) + " (" + cudaGetErrorString(status) + ")";
    if (status == cudaErrorNoDevice || status == cudaErrorInsufficientDriver ||
        status == cudaErrorMemoryAllocation)
        throw Unavailable(message);
    throw Error(ExitCode::Internal, message);
}

// After a kernel launch.
inline void check_launch(const std::string& kernel) {
    check_cuda(cudaGetLastError(), "launching " + kernel);
}

}  // namespace l2lens::gpu
