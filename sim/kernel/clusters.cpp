// SPDX-License-Identifier: Apache-2.0
#include "kernel/clusters.hpp"

#include <string>

#include "base/error.hpp"

namespace l2lens {
namespace {

struct Tile {
    std::int64_t outer, row, column;
};

std::int64_t steps_of(const Program& program) {
    std::int64_t steps = 0;
    for (const Phase& phase : program.phases) steps += phase.count;
    return steps;
}

class ClusterCheck {
public:
    explicit ClusterCheck(const Kernel& kernel) : kernel_(kernel) {}

    void check(const Tile& tile) const {
        const Program& program = at(tile);
        if (program.phases.empty()) return;
        check_steps(tile, first_of_cluster(tile));
        for (const Phase& phase : program.phases) {
            for (const BoxWalk& box : phase.loads) check_multicast(tile, box);
        }
    }

private:
    const Program& at(const Tile& tile) const {
        return kernel_.programs[static_cast<std::size_t>(
            (tile.outer * kernel_.tile_rows() + tile.row) * kernel_.tile_columns() + tile.column)];
    }

    bool runs(const Tile& tile) const {
        return tile.row < kernel_.tile_rows() && tile.column < kernel_.tile_columns() &&
               !at(tile).phases.empty();
    }

    Tile corner_of(const Tile& tile) const {
        return {tile.outer, tile.row - tile.row % kernel_.cluster[0],
                tile.column - tile.column % kernel_.cluster[1]};
    }

    // The first one that runs; there is one, `of` itself at the latest.
    Tile first_of_cluster(const Tile& of) const {
        const Tile corner = corner_of(of);
        for (int row = 0; row < kernel_.cluster[0]; ++row) {
            for (int column = 0; column < kernel_.cluster[1]; ++column) {
                const Tile tile{of.outer, corner.row + row, corner.column + column};
                if (runs(tile)) return tile;
            }
        }
        return of;
    }

    int receivers(const Tile& tile, int axis) const {
        const Tile corner = corner_of(tile);
        int found = 0;
        for (int i = 0; i < kernel_.cluster[static_cast<std::size_t>(axis)]; ++i) {
            const Tile other = axis == 0 ? Tile{tile.outer, corner.row + i, tile.column}
                                         : Tile{tile.outer, tile.row, corner.column + i};
            found += runs(other) ? 1 : 0;
        }
        return found;
    }

    static std::string text(const Tile& tile) {
        return "tile (" + std::to_string(tile.row) + ", " + std::to_string(tile.column) + ")";
    }

    void check_steps(const Tile& tile, const Tile& first) const {
        const std::int64_t steps = steps_of(at(tile)), of_first = steps_of(at(first));
        if (steps == of_first) return;
        throw BadInput(kernel_.name + ": " + text(tile) + " has " + std::to_string(steps) + " steps and " +
                       text(first) + " of its cluster " + std::to_string(of_first) +
                       "; CTAs of a cluster must have as many");
    }

    void check_multicast(const Tile& tile, const BoxWalk& box) const {
        if (box.multicast == 1) return;
        const int there = receivers(tile, box.multicast_axis);
        if (box.multicast == there) return;
        const std::string axis = box.multicast_axis == 0 ? "rows" : "columns";
        throw BadInput(kernel_.name + ": " + text(tile) + " has a box with multicast = " +
                       std::to_string(box.multicast) + " along " + axis + ", where " + std::to_string(there) +
                       " of its cluster's CTAs run; multicast must be 1 or their number");
    }

    const Kernel& kernel_;
};

}  // namespace

void check_clusters(const Kernel& kernel) {
    const ClusterCheck clusters(kernel);
    const std::int64_t outer_tiles = kernel.outer_tiles();
    for (std::int64_t outer = 0; outer < outer_tiles; ++outer) {
        for (std::int64_t row = 0; row < kernel.tile_rows(); ++row) {
            for (std::int64_t column = 0; column < kernel.tile_columns(); ++column)
                clusters.check({outer, row, column});
        }
    }
}

}  // namespace l2lens
