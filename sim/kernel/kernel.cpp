// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/bytes_text.hpp"
#include "base/error.hpp"
#include "base/units.hpp"

namespace l2lens {
namespace {

constexpr std::uint64_t kTensorAlignment = std::uint64_t{2} << 20;

// What a LineNumber reaches.
constexpr std::uint64_t kMostBytes = std::uint64_t{1} << (32 + kLineShift);

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

}  // namespace

// Boxes that are whole at both ends are whole in between, since the walk is affine.
double walk_bytes(const Tensor& tensor, const BoxWalk& walk, std::int64_t steps) {
    if (steps <= 0) return 0;
    double whole = tensor.element_bytes;
    for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d)
        whole *= static_cast<double>(walk.extent[d]);
    if (box_bytes(tensor, walk, 0) == whole && box_bytes(tensor, walk, steps - 1) == whole)
        return whole * static_cast<double>(steps);
    double bytes = 0;
    for (std::int64_t step = 0; step < steps; ++step) bytes += box_bytes(tensor, walk, step);
    return bytes;
}

// Boxes that hold something at both ends do in between: each dimension's steps inside are an interval.
std::int64_t boxes_outside(const Tensor& tensor, const BoxWalk& walk, std::int64_t steps) {
    if (steps <= 0 || (box_bytes(tensor, walk, 0) > 0 && box_bytes(tensor, walk, steps - 1) > 0)) return 0;
    std::int64_t outside = 0;
    for (std::int64_t step = 0; step < steps; ++step) outside += box_bytes(tensor, walk, step) > 0 ? 0 : 1;
    return outside;
}

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

bool Kernel::has_tensor_math() const {
    for (const Program& program : programs)
        for (const Phase& phase : program.phases)
            if (phase.count > 0 && phase.math_flops > 0) return true;
    return false;
}

void layout_tensors(Kernel& kernel) {
    // Gaps in front of tensors: the first four bits of multiples of the golden ratio (2^32 over it), so that
    // tensors that follow each other begin unlike.
    constexpr std::uint32_t kGoldenRatio = 0x9E3779B9;
    std::uint32_t multiple = 0;
    std::uint64_t end = 0;
    for (Tensor& tensor : kernel.tensors) {
        const std::uint64_t gap = (multiple >> 28) * kTensorAlignment;
        multiple += kGoldenRatio;
        if (tensor.alias_of >= 0) {
            tensor.base = kernel.tensors[static_cast<std::size_t>(tensor.alias_of)].base;
            continue;
        }
        tensor.base = ceil_div(end, kTensorAlignment) * kTensorAlignment + gap;
        end = tensor.base + static_cast<std::uint64_t>(tensor.bytes());
        if (end > kMostBytes) {
            throw BadInput(kernel.name + ": the tensors up to " + tensor.name + " take " +
                           bytes_text(static_cast<double>(end)) + "; the model's addresses end at " +
                           bytes_text(static_cast<double>(kMostBytes)));
        }
    }
    for (Kernel& next : kernel.then) next.tensors = kernel.tensors;
}

namespace {

// Adds `tensor` to `tensors`, as another view of the one with its name and size if there is one. Its number.
int add_view(std::vector<Tensor>& tensors, Tensor tensor) {
    const auto same = [&](const Tensor& other) {
        return other.alias_of < 0 && other.name == tensor.name && other.bytes() == tensor.bytes();
    };
    const auto found = std::find_if(tensors.begin(), tensors.end(), same);
    tensor.alias_of = found == tensors.end() ? -1 : static_cast<int>(found - tensors.begin());
    tensors.push_back(std::move(tensor));
    return static_cast<int>(tensors.size()) - 1;
}

void renumber_boxes(Kernel& kernel, const std::vector<int>& numbers) {
    for (Program& program : kernel.programs) {
        for (Phase& phase : program.phases) {
            for (auto* boxes : {&phase.loads, &phase.stores})
                for (BoxWalk& box : *boxes) box.tensor = numbers[static_cast<std::size_t>(box.tensor)];
        }
    }
}

}  // namespace

void append_launches(Kernel& kernel, Kernel next) {
    std::vector<int> numbers;
    for (const Tensor& tensor : next.tensors) numbers.push_back(add_view(kernel.tensors, tensor));
    std::vector<Kernel> following = std::exchange(next.then, {});
    following.insert(following.begin(), std::move(next));
    for (Kernel& launch : following) {
        renumber_boxes(launch, numbers);
        kernel.then.push_back(std::move(launch));
    }
    layout_tensors(kernel);
}

std::vector<const Kernel*> launches_of(const Kernel& kernel) {
    std::vector<const Kernel*> launches{&kernel};
    for (const Kernel& next : kernel.then) launches.push_back(&next);
    return launches;
}

}  // namespace l2lens
