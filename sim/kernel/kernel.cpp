// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel.hpp"

#include <algorithm>

#include "base/bytes_text.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace l2lens {
namespace {

constexpr std::uint64_t kTensorAlignment = std::uint64_t{2} << 20;

// What a LineNumber reaches.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << (32 + kLineShift);

}  // namespace

std::int64_t Tensor::bytes() const {
    std::int64_t last = 0;
    for (int d = 0; d < rank; ++d) {
        const auto i = static_cast<std::size_t>(d);
        last += (shape[i] - 1) * stride_bytes[i];
    }
    return last + element_bytes;
}

std::int64_t Kernel::tiles() const {
    return outer_tiles() * tile_rows() * tile_columns();
}

std::int64_t Kernel::outer_tiles() const {
    std::int64_t product = 1;
    for (std::size_t axis = 0; axis + 2 < grid.size(); ++axis) product *= grid[axis];
    return product;
}

double Kernel::flops() const {
    double sum = 0;
    for (const Program& program : programs)
        for (const Phase& phase : program.phases) sum += static_cast<double>(phase.count) * phase.math_flops;
    return sum;
}

void layout_tensors(Kernel& kernel, std::uint64_t device_bytes) {
    const std::uint64_t limit = std::min(device_bytes, kMostBytes);
    std::uint64_t end = 0;
    for (Tensor& tensor : kernel.tensors) {
        tensor.base = ceil_div(end, kTensorAlignment) * kTensorAlignment;
        end = tensor.base + static_cast<std::uint64_t>(tensor.bytes());
        if (end > limit) {
            throw BadInput(kernel.name + ": the tensors up to " + tensor.name + " take " +
                           bytes_text(static_cast<double>(end)) + "; the device has " +
                           bytes_text(static_cast<double>(limit)));
        }
    }
}

}  // namespace l2lens
