// SPDX-License-Identifier: Apache-2.0
#include "report/operands.hpp"

#include <algorithm>

namespace l2lens {
namespace {

// Where the loads of one tensor begin and how they move: equal for two tiles that read the same part of it.
// Counts are left out, since a causal mask only shortens the walk.
std::vector<Index> walk_of(const Program& program, int tensor) {
    std::vector<Index> walk;
    for (const Phase& phase : program.phases) {
        for (const BoxWalk& load : phase.loads) {
            if (load.tensor != tensor) continue;
            walk.push_back(load.start);
            walk.push_back(load.step);
        }
    }
    return walk;
}

// Bytes of the region a walk sweeps: the bounding box from its first to its last box, inside the tensor.
double swept_bytes(const Tensor& tensor, const BoxWalk& walk, std::int64_t count) {
    double elements = count > 0 ? 1 : 0;
    for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d) {
        const std::int64_t last = walk.start[d] + walk.step[d] * std::max<std::int64_t>(count - 1, 0);
        const std::int64_t begin = std::max<std::int64_t>(std::min(walk.start[d], last), 0);
        const std::int64_t end = std::min(std::max(walk.start[d], last) + walk.extent[d], tensor.shape[d]);
        elements *= static_cast<double>(std::max<std::int64_t>(end - begin, 0));
    }
    return elements * tensor.element_bytes;
}

double bytes_read(const Kernel& kernel, const Program& program, int tensor) {
    double bytes = 0;
    const Tensor& whole = kernel.tensors[static_cast<std::size_t>(tensor)];
    for (const Phase& phase : program.phases) {
        for (const BoxWalk& load : phase.loads) {
            if (load.tensor == tensor) bytes += swept_bytes(whole, load, phase.count);
        }
    }
    return std::min(bytes, static_cast<double>(whole.bytes()));
}

const Program& program_at(const Kernel& kernel, std::int64_t row, std::int64_t column) {
    return kernel.programs[static_cast<std::size_t>(row * kernel.tile_columns() + column)];
}

void add(SharedOperand& operand, const Tensor& tensor, double line_bytes) {
    operand.tensors.push_back(tensor.name);
    operand.line_bytes += line_bytes;
    operand.tensor_bytes += static_cast<double>(tensor.bytes());
}

}  // namespace

std::string SharedOperand::names() const {
    std::string text;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (i > 0) text += i + 1 == tensors.size() ? " and " : ", ";
        text += tensors[i];
    }
    return text;
}

Operands find_operands(const Kernel& kernel) {
    Operands operands;
    if (kernel.programs.empty() || kernel.grid.size() < 2) return operands;
    // The middle of the grid: edges may be clipped or masked.
    const std::int64_t row = kernel.tile_rows() / 2;
    const std::int64_t column = kernel.tile_columns() / 2;
    const Program& here = program_at(kernel, row, column);
    const Program& above = program_at(kernel, std::max<std::int64_t>(row - 1, 0), column);
    const Program& left = program_at(kernel, row, std::max<std::int64_t>(column - 1, 0));

    for (int t = 0; t < static_cast<int>(kernel.tensors.size()); ++t) {
        const auto walk = walk_of(here, t);
        if (walk.empty()) continue;
        const Tensor& tensor = kernel.tensors[static_cast<std::size_t>(t)];
        operands.input_bytes += static_cast<double>(tensor.bytes());
        const bool differs_by_row = walk_of(above, t) != walk;
        const bool differs_by_column = walk_of(left, t) != walk;
        if (differs_by_row && !differs_by_column) add(operands.rows, tensor, bytes_read(kernel, here, t));
        if (differs_by_column && !differs_by_row) add(operands.columns, tensor, bytes_read(kernel, here, t));
    }
    return operands;
}

std::vector<PaneledTensor> paneled_tensors(const Kernel& kernel) {
    const Operands operands = find_operands(kernel);
    const auto names = [](const SharedOperand& operand, const std::string& name) {
        return std::find(operand.tensors.begin(), operand.tensors.end(), name) != operand.tensors.end();
    };
    std::vector<PaneledTensor> paneled;
    for (std::size_t t = 0; t < kernel.tensors.size(); ++t) {
        const std::string& name = kernel.tensors[t].name;
        if (names(operands.rows, name)) paneled.push_back({static_cast<int>(t), true});
        if (names(operands.columns, name)) paneled.push_back({static_cast<int>(t), false});
    }
    return paneled;
}

}  // namespace l2lens
