// SPDX-License-Identifier: Apache-2.0
// What a kernel moves, added up over its tiles: the nominal traffic, and whether each output is stored once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"

namespace l2lens {

struct TensorTraffic {
    std::string tensor;
    double bytes = 0;         // its elements, without padding between rows
    double loaded_bytes = 0;  // by all tiles together
    double stored_bytes = 0;
    std::int64_t boxes_outside = 0;  // of all its boxes: those that hold nothing of it
};

std::vector<TensorTraffic> kernel_traffic(const Kernel& kernel);

}  // namespace l2lens
