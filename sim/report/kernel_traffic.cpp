// SPDX-License-Identifier: Apache-2.0
#include "report/kernel_traffic.hpp"

#include <algorithm>

namespace l2lens {
namespace {

double bytes_of(const Tensor& tensor) {
    double bytes = tensor.element_bytes;
    for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d)
        bytes *= static_cast<double>(tensor.shape[d]);
    return bytes;
}

}  // namespace

std::vector<TensorTraffic> kernel_traffic(const Kernel& kernel) {
    std::vector<TensorTraffic> traffic;
    for (const Tensor& tensor : kernel.tensors) traffic.push_back({tensor.name, bytes_of(tensor), 0, 0, 0});
    const auto add = [&](const std::vector<BoxWalk>& walks, std::int64_t count,
                         double TensorTraffic::*direction) {
        for (const BoxWalk& walk : walks) {
            const auto t = static_cast<std::size_t>(walk.tensor);
            traffic[t].*direction += walk_bytes(kernel.tensors[t], walk, count);
            traffic[t].boxes_outside += boxes_outside(kernel.tensors[t], walk, count);
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
