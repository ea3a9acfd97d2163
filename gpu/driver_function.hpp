// SPDX-License-Identifier: Apache-2.0
// Functions of the driver, asked for through the runtime: the program does not link the driver library, and
// starts without one. Private to gpu/ (includes CUDA's headers).
#pragma once

#include <string>

#include <cuda.h>
#include <cuda_runtime_api.h>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"

namespace l2lens::gpu {

// The driver's `name`, of the type of cuda.h's declaration:
// driver_function<decltype(::cuCtxGetCurrent)>("cu..."). Throws Unavailable when a driver older than CUDA 12
// has none.
template <class Function>
Function* driver_function(const std::string& name) {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    check_cuda(cudaGetDriverEntryPointByVersion(name.c_str(), &function, 12000, cudaEnableDefault, &found),
               "asking the driver for " + name);
    if (found != cudaDriverEntryPointSuccess || function == nullptr)
        throw Unavailable("the driver has no " + name + "; install one for CUDA 12 or newer");
    return reinterpret_cast<Function*>(function);
}

}  // namespace l2lens::gpu
