// SPDX-License-Identifier: Apache-2.0
// A GEMM whose operands are read round and round, so that however many steps it has they stay in the L2.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernel/kernel.hpp"

namespace l2lens::test {

// The loop of `steps` steps over operands of fewer.
inline void go_round(Program& program, std::int64_t steps) {
    const Phase loop = program.phases.front();
    std::vector<Phase> phases;
    for (std::int64_t left = steps; left > 0; left -= loop.count) {
        phases.push_back(loop);
        phases.back().count = std::min(left, loop.count);
    }
    phases.push_back(program.phases.back());
    program.phases = phases;
}

}  // namespace l2lens::test
