// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_model.hpp"

#include <cmath>

namespace l2lens {

MemoryModel::MemoryModel(const Machine& m, double lines_per_simulated_line)
    : machine(m), map(m), timing(MemoryTiming::of(m)) {
    partition_of_gpc.resize(static_cast<std::size_t>(m.gpcs));
    for (const Sm& sm : m.sms) {
        partition_of_gpc[static_cast<std::size_t>(sm.gpc)] = static_cast<std::uint8_t>(sm.partition);
    }
    // A box is complete when its slowest line is: the maximum of n exponentials has mean ln n + 0.577. A box
    // of which only every F-th line is simulated misses ln F of it. That is time of the box, not of its
    // lines: they take no place in a slice meanwhile.
    timing.late_jitters = std::log(lines_per_simulated_line);
    constexpr int kQuantiles = 4096;
    for (int i = 0; i < kQuantiles; ++i) {
        exponential.push_back(static_cast<float>(-std::log(1.0 - (i + 0.5) / kQuantiles)));
    }
}

}  // namespace l2lens
