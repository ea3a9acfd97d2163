// SPDX-License-Identifier: Apache-2.0
#include "gpu/live/order_table.hpp"

#include <string>

#include "base/error.hpp"

namespace l2lens::gpu {
namespace {

std::uint32_t pack(TileCoord tile) {
    if (tile == kNoTile) return kNoTilePacked;
    return pack_tile(static_cast<std::uint32_t>(tile.row), static_cast<std::uint32_t>(tile.column));
}

std::string describe(TileCoord tile) {
    return "(" + std::to_string(tile.row) + ", " + std::to_string(tile.column) + ")";
}

// Makes the two tiles of a cluster share what the cluster shares.
void pair_up(TileCoord& first, TileCoord& second, const LiveShape& shape) {
    const bool share_column = shape.cluster_rows == 2;
    auto outside = [&](TileCoord partner) {
        return share_column ? TileCoord{shape.grid.rows, partner.column}
                            : TileCoord{partner.row, shape.grid.columns};
    };
    if (first == kNoTile && second == kNoTile) return;
    if (first == kNoTile) first = outside(second);
    if (second == kNoTile) second = outside(first);
    const bool paired = share_column ? first.column == second.column : first.row == second.row;
    if (!paired)
        throw BadInput(
            "tiles " + describe(first) + " and " + describe(second) + " cannot form a cluster of " +
            (share_column ? "2x1: they lie in different columns" : "1x2: they lie in different rows"));
}

}  // namespace

std::vector<std::uint32_t> pack_order(std::span<const TileCoord> order, const LiveShape& shape) {
    if (const OrderCheck check = check_order(order, shape.grid); !check.bijection())
        throw BadInput("the order is not a bijection: " + check.describe());
    std::vector<TileCoord> tiles(order.begin(), order.end());
    if (shape.cluster_rows * shape.cluster_columns == 2) {
        if (tiles.size() % 2 != 0) tiles.push_back(kNoTile);
        for (std::size_t i = 0; i < tiles.size(); i += 2) pair_up(tiles[i], tiles[i + 1], shape);
    }
    std::vector<std::uint32_t> table;
    table.reserve(tiles.size());
    for (const TileCoord tile : tiles) table.push_back(pack(tile));
    return table;
}

}  // namespace l2lens::gpu
