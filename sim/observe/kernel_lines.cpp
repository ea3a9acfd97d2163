// SPDX-License-Identifier: Apache-2.0
#include "observe/kernel_lines.hpp"

#include <algorithm>
#include <set>
#include <tuple>

#include "kernel/box_lines.hpp"

namespace l2lens {
namespace {

std::uint64_t end_of(const Kernel& kernel) {
    std::uint64_t end = 0;
    for (const Tensor& tensor : kernel.tensors)
        end = std::max(end, tensor.base + static_cast<std::uint64_t>(tensor.bytes()));
    return end;
}

// Tiles of a row load the same boxes: each walk is looked at once.
using WalkKey = std::tuple<int, Path, Index, Index, Index, std::int64_t>;
WalkKey key_of(const BoxWalk& walk, std::int64_t count) {
    return {walk.tensor, walk.path, walk.start, walk.step, walk.extent, count};
}

}  // namespace

KernelLines::KernelLines(const Kernel& kernel, std::span<const PaneledTensor> paneled) {
    const std::uint64_t lines = ceil_div<std::uint64_t>(end_of(kernel), kLineBytes);
    if (lines > kMostLines) return;
    read_.assign(lines, 0);
    group_.assign(lines, -1);
    for (const PaneledTensor& tensor : paneled) add_panels(kernel, tensor);

    std::set<WalkKey> seen;
    for (std::size_t tile = 0; tile < kernel.programs.size(); ++tile) {
        for (const Phase& phase : kernel.programs[tile].phases) {
            for (const BoxWalk& load : phase.loads) {
                if (!seen.insert(key_of(load, phase.count)).second) continue;
                const int group = group_of_load(kernel, static_cast<std::int64_t>(tile), load.tensor);
                read_walk(kernel.tensors[static_cast<std::size_t>(load.tensor)], load, phase.count, group);
            }
        }
    }
}

void KernelLines::add_panels(const Kernel& kernel, const PaneledTensor& paneled) {
    PanelGroups panels;
    panels.of = paneled;
    panels.tiles = static_cast<int>(paneled.by_row ? kernel.tile_rows() : kernel.tile_columns());
    panels.tiles_per_group = ceil_div(panels.tiles, kMostGroups);
    panels.first = groups();
    panels_.push_back(panels);
}

int KernelLines::group_of_load(const Kernel& kernel, std::int64_t tile, int tensor) const {
    for (const PanelGroups& panels : panels_) {
        if (panels.of.tensor != tensor) continue;
        const std::int64_t columns = kernel.tile_columns();
        const std::int64_t panel = panels.of.by_row ? tile / columns % kernel.tile_rows() : tile % columns;
        return panels.first + static_cast<int>(panel) / panels.tiles_per_group;
    }
    return -1;
}

void KernelLines::read_walk(const Tensor& tensor, const BoxWalk& walk, std::int64_t count, int group) {
    for (std::int64_t k = 0; k < count; ++k) {
        for_each_line(tensor, walk, k, [&](const LineRequest& request) {
            read_[request.line] |= request.sectors;
            if (group >= 0) group_[request.line] = static_cast<std::int16_t>(group);
        });
    }
}

}  // namespace l2lens
