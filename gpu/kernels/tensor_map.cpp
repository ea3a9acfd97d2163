// SPDX-License-Identifier: Apache-2.0
#include "gpu/kernels/tensor_map.hpp"

#include "base/error.hpp"

#include "gpu/driver_function.hpp"

namespace l2lens::gpu {
namespace {

// Row-major planes of row-major matrices, without padding; a map of one matrix has planes = 0 and two axes.
struct BoxMap {
    const void* base;
    std::int64_t planes, rows, columns;
    int element_bytes;
    int box_rows, box_columns;
    CUtensorMapDataType type;
    CUtensorMapSwizzle swizzle;
};

CUtensorMap encode_map(const BoxMap& m) {
    static auto* const encode = driver_function<decltype(::cuTensorMapEncodeTiled)>("cuTensorMapEncodeTiled");
    constexpr int kMostAxes = 3;
    const auto row_bytes = static_cast<cuuint64_t>(m.columns * m.element_bytes);
    const cuuint64_t sizes[kMostAxes] = {static_cast<cuuint64_t>(m.columns), static_cast<cuuint64_t>(m.rows),
                                         static_cast<cuuint64_t>(m.planes)};
    const cuuint64_t strides[kMostAxes - 1] = {row_bytes, row_bytes * static_cast<cuuint64_t>(m.rows)};
    const cuuint32_t box[kMostAxes] = {static_cast<cuuint32_t>(m.box_columns),
                                       static_cast<cuuint32_t>(m.box_rows), 1};
    const cuuint32_t every[kMostAxes] = {1, 1, 1};
    CUtensorMap map{};
    const CUresult status = encode(&map, m.type, m.planes > 0 ? 3 : 2, const_cast<void*>(m.base), sizes,
                                   strides, box, every, CU_TENSOR_MAP_INTERLEAVE_NONE, m.swizzle,
                                   CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (status != CUDA_SUCCESS)
        throw Error(ExitCode::Internal, "cuTensorMapEncodeTiled failed with error " + std::to_string(status) +
                                            " for " + std::to_string(m.rows) + " x " +
                                            std::to_string(m.columns) + " elements in boxes of " +
                                            std::to_string(m.box_rows) + " x " +
                                            std::to_string(m.box_columns));
    return map;
}

}  // namespace

CUtensorMap tile_map(const void* base, std::int64_t rows, std::int64_t columns, int box_rows) {
    return encode_map({base, 0, rows, columns, 2, box_rows, 64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                       CU_TENSOR_MAP_SWIZZLE_128B});
}

CUtensorMap plane_map(const void* base, std::int64_t planes, std::int64_t rows, std::int64_t columns,
                      int box_rows) {
    return encode_map({base, planes, rows, columns, 2, box_rows, 64, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,
                       CU_TENSOR_MAP_SWIZZLE_128B});
}

CUtensorMap plain_map(const void* base, std::int64_t rows, std::int64_t columns, int element_bytes,
                      int box_rows, int box_columns) {
    const CUtensorMapDataType type = element_bytes == 1   ? CU_TENSOR_MAP_DATA_TYPE_UINT8
                                     : element_bytes == 2 ? CU_TENSOR_MAP_DATA_TYPE_UINT16
                                                          : CU_TENSOR_MAP_DATA_TYPE_UINT32;
    return encode_map(
        {base, 0, rows, columns, element_bytes, box_rows, box_columns, type, CU_TENSOR_MAP_SWIZZLE_NONE});
}

}  // namespace l2lens::gpu
