// SPDX-License-Identifier: Apache-2.0
// Which tensors the tiles of a row share and which those of a column: for a GEMM, A and B. Found by comparing
// the programs of neighbouring tiles, so that it holds for any kernel.
#pragma once

#include <string>
#include <vector>

#include "kernel/kernel.hpp"
#include "order/order.hpp"

#include "observe/kernel_lines.hpp"

namespace l2lens {

struct SharedOperand {
    std::vector<std::string> tensors;  // names, in the kernel's order
    double line_bytes = 0;             // what one row (or column) of tiles reads of them
    double tensor_bytes = 0;           // all of them

    bool empty() const { return tensors.empty(); }
    std::string names() const;  // "A", "K and V"
};

struct Operands {
    SharedOperand rows;      // the same for all tiles of a row
    SharedOperand columns;   // the same for all tiles of a column
    double input_bytes = 0;  // all tensors that are read

    // What a wave with this footprint reads at least, of the shared operands.
    double wave_bytes(const WaveFootprint& wave) const {
        return wave.mean_rows * rows.line_bytes + wave.mean_columns * columns.line_bytes;
    }
};

Operands find_operands(const Kernel& kernel);

// The shared operands as panels of their tensors, for those who watch them.
std::vector<PaneledTensor> paneled_tensors(const Kernel& kernel);

}  // namespace l2lens
