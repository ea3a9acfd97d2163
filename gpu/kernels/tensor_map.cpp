// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/tensor_map.hpp"

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"

namespace l2lens::gpu {
namespace {

// Through the runtime, so that the program does not link the driver library and starts without one.
decltype(&::cuTensorMapEncodeTiled) encoder() {
    void* function = nullptr;
    cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
    check_cuda(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &function, 12000, cudaEnableDefault,
                                                &found),
               "asking the driver for cuTensorMapEncodeTiled");
    if (found != cudaDriverEntryPointSuccess)
        throw Unavailable(
            "the driver has no tensor maps (cuTensorMapEncodeTiled); install one for CUDA 12 or newer");
    return reinterpret_cast<decltype(&::cuTensorMapEncodeTiled)>(function);
}

}  // namespace

CUtensorMap tile_map(const void* base, std::int64_t rows, std::int64_t columns, int box_rows) {
    static const auto encode = encoder();
    constexpr int kRank = 2;
    const cuuint64_t sizes[kRank] = {static_cast<cuuint64_t>(columns), static_cast<cuuint64_t>(rows)};
    const cuuint64_t row_bytes[kRank - 1] = {static_cast<cuuint64_t>(columns) * 2};
    const cuuint32_t box[kRank] = {64, static_cast<cuuint32_t>(box_rows)};
    const cuuint32_t every[kRank] = {1, 1};
    CUtensorMap map{};
    const CUresult status =
        encode(&map, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, kRank, const_cast<void*>(base), sizes, row_bytes, box,
               every, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
               CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS)
        throw Error(ExitCode::Internal, "cuTensorMapEncodeTiled failed with error " + std::to_string(status) +
                                            " for " + std::to_string(rows) + " x " + std::to_string(columns) +
                                            " elements in boxes of " + std::to_string(box_rows) + " rows");
    return map;
}

}  // namespace l2lens::gpu
