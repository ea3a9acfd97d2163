// SPDX-License-Identifier: Apache-2.0
// What a kernel reads, line by line: which sectors, and for operands that the tiles of a row (or column)
// share, whose. Made once for a kernel and read by the details of every order.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/units.hpp"
#include "kernel/kernel.hpp"

namespace l2lens {

// A tensor of which each row (or each column) of tiles reads a panel: A by rows and B by columns in a GEMM.
struct PaneledTensor {
    int tensor = 0;
    bool by_row = true;
};

// Neighbouring panels of one tensor, watched as one.
struct PanelGroups {
    PaneledTensor of;
    int tiles = 0;            // rows (or columns) of tiles
    int tiles_per_group = 1;  // so that there are at most KernelLines::kMostGroups
    int first = 0;            // number of its first group among all
    int groups() const { return (tiles + tiles_per_group - 1) / tiles_per_group; }
};

class KernelLines {
public:
    static constexpr int kMostGroups = 128;  // of one tensor
    // Three bytes a line: tensors beyond 8 GiB together are not watched.
    static constexpr std::uint64_t kMostLines = std::uint64_t{1} << 26;

    KernelLines(const Kernel& kernel, std::span<const PaneledTensor> paneled);

    // False: the tensors are too large, and everything below is empty.
    bool known() const { return !read_.empty(); }

    std::size_t lines() const { return read_.size(); }
    // Sectors that some CTA loads.
    SectorMask read_sectors(LineNumber line) const {
        return line < read_.size() ? read_[line] : SectorMask{0};
    }
    // Number of the line's group of panels; -1: it is in none.
    int group_of(LineNumber line) const { return line < group_.size() ? group_[line] : -1; }
    const std::vector<PanelGroups>& panels() const { return panels_; }
    int groups() const { return panels_.empty() ? 0 : panels_.back().first + panels_.back().groups(); }

private:
    void add_panels(const Kernel& kernel, const PaneledTensor& paneled);
    int group_of_load(const Kernel& kernel, std::int64_t tile, int tensor) const;
    void read_walk(const Tensor& tensor, const BoxWalk& walk, std::int64_t count, int group);

    std::vector<SectorMask> read_;
    std::vector<std::int16_t> group_;
    std::vector<PanelGroups> panels_;
};

}  // namespace l2lens
