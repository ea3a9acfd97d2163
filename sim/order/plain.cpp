// SPDX-License-Identifier: Apache-2.0
// Rasters, diagonals and the shuffle: the orders everything else is compared with.
#include <utility>

#include "base/random.hpp"
#include "order/families.hpp"

namespace l2lens {

// CUDA's own order of a grid with n on x.
TileSequence row_major(const OrderArgs&, GridShape grid, const OrderContext&) {
    return map_ids(grid.tiles(), [&](Index id) { return tile_at(id / grid.columns, id % grid.columns); });
}

TileSequence column_major(const OrderArgs&, GridShape grid, const OrderContext&) {
    return map_ids(grid.tiles(), [&](Index id) { return tile_at(id % grid.rows, id / grid.rows); });
}

// Every S-th tile of row_major: an adversary. A bijection only where S and the number of tiles share no
// factor.
TileSequence strided(const OrderArgs& args, GridShape grid, const OrderContext&) {
    const Index tiles = grid.tiles();
    return map_ids(tiles, [&](Index id) {
        const Index place = id * args[0] % tiles;
        return tile_at(place / grid.columns, place % grid.columns);
    });
}

// The torus' diagonals: for d, for i: (i, (i + d) mod columns). Neighbours share neither operand: the worst
// for a GEMM, and what keeps a transpose off one memory channel (Ruetsch and Micikevicius, "Optimizing Matrix
// Transpose in CUDA").
TileSequence diagonal(const OrderArgs&, GridShape grid, const OrderContext&) {
    return map_ids(grid.tiles(), [&](Index id) {
        const Index row = id % grid.rows;
        return tile_at(row, (row + id / grid.rows) % grid.columns);
    });
}

// Wavefronts of constant row + column, top right to bottom left: the order of dependences in a stencil sweep
// or in dynamic programming.
TileSequence anti_diagonal(const OrderArgs&, GridShape grid, const OrderContext&) {
    TileSequence sequence;
    sequence.reserve(static_cast<std::size_t>(grid.tiles()));
    for (Index sum = 0; sum <= Index{grid.rows} + grid.columns - 2; ++sum) {
        const Index first = std::max<Index>(0, sum - grid.columns + 1);
        const Index last = std::min<Index>(sum, grid.rows - 1);
        for (Index row = first; row <= last; ++row) sequence.push_back(tile_at(row, sum - row));
    }
    return sequence;
}

// Fisher and Yates' shuffle of row_major, the same on every machine.
TileSequence shuffled(const OrderArgs& args, GridShape grid, const OrderContext& context) {
    TileSequence sequence = row_major(args, grid, context);
    RandomStream random(static_cast<std::uint64_t>(args[0]), 0);
    for (std::size_t left = sequence.size(); left > 1; --left)
        std::swap(sequence[left - 1], sequence[random.below(static_cast<std::uint32_t>(left))]);
    return sequence;
}

}  // namespace l2lens
