// SPDX-License-Identifier: Apache-2.0
#include "report/kernel_traffic.hpp"

#include <algorithm>

namespace l2lens {
namespace {

double element_bytes(const Tensor& tensor) {
    double bytes = tensor.element_bytes;
    for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d)
        bytes *= static_cast<double>(tensor.shape[d]);
    return bytes;
}

// Bytes of one box, inside its tensor.
double box_bytes(const Tensor& tensor, const BoxWalk& walk, std::int64_t step) {
    double bytes = tensor.element_bytes;
    for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d) {
        const std::int64_t start = walk.start[d] + walk.step[d] * step;
        const std::int64_t begin = std::max<std::int64_t>(start, 0);
        const std::int64_t end = std::min(start + walk.extent[d], tensor.shape[d]);
        bytes *= static_cast<double>(std::max<std::int64_t>(end - begin, 0));
    }
    return bytes;
}

// All steps of a walk. Boxes that are whole at both ends are whole in between, since the walk is affine.
double walk_bytes(const Tensor& tensor, const BoxWalk& walk, std::int64_t count) {
    if (count <= 0) return 0;
    const double first = box_bytes(tensor, walk, 0);
    double whole = tensor.element_bytes;
    for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d)
        whole *= static_cast<double>(walk.extent[d]);
    if (first == whole && box_bytes(tensor, walk, count - 1) == whole)
        return whole * static_cast<double>(count);
    double bytes = 0;
    for (std::int64_t step = 0; step < count; ++step) bytes += box_bytes(tensor, walk, step);
    return bytes;
}

}  // namespace

std::vector<TensorTraffic> kernel_traffic(const Kernel& kernel) {
    std::vector<TensorTraffic> traffic;
    for (const Tensor& tensor : kernel.tensors) traffic.push_back({tensor.name, element_bytes(tensor), 0, 0});
    const auto add = [&](const std::vector<BoxWalk>& walks, std::int64_t count,
                         double TensorTraffic::*direction) {
        for (const BoxWalk& walk : walks) {
            const auto t = static_cast<std::size_t>(walk.tensor);
            traffic[t].*direction += walk_bytes(kernel.tensors[t], walk, count);
        }
    };
    for (const Kernel* launch : launches_of(kernel)) {
        for (const Program& program : launch->programs) {
            for (const Phase& phase : program.phases) {
                add(phase.loads, phase.count, &TensorTraffic::loaded_bytes);
                add(phase.stores, phase.count, &TensorTraffic::stored_bytes);
            }
        }
    }
    return traffic;
}

}  // namespace l2lens
