// SPDX-License-Identifier: Apache-2.0
#include "order/cluster.hpp"

#include <algorithm>

namespace l2lens {
namespace {

TileCoord member(TileCoord cluster, ClusterShape shape, std::int32_t rank) {
    return {cluster.row * shape.rows + rank / shape.columns,
            cluster.column * shape.columns + rank % shape.columns};
}

}  // namespace

GridShape cluster_grid(GridShape tiles, ClusterShape cluster) {
    return {(tiles.rows + cluster.rows - 1) / cluster.rows,
            (tiles.columns + cluster.columns - 1) / cluster.columns};
}

bool launches_clusters(std::span<const TileCoord> sequence, ClusterShape cluster) {
    const auto size = static_cast<std::size_t>(cluster.ctas());
    if (sequence.size() % size != 0) return false;
    for (std::size_t first = 0; first < sequence.size(); first += size) {
        const auto group = sequence.subspan(first, size);
        const auto known = std::find_if(group.begin(), group.end(), [](TileCoord t) { return t != kNoTile; });
        if (known == group.end()) continue;
        const TileCoord origin{known->row / cluster.rows, known->column / cluster.columns};
        for (std::size_t rank = 0; rank < size; ++rank) {
            const TileCoord expected = member(origin, cluster, static_cast<std::int32_t>(rank));
            if (group[rank] != kNoTile && group[rank] != expected) return false;
        }
    }
    return true;
}

TileSequence expand_clusters(std::span<const TileCoord> clusters, GridShape tiles, ClusterShape cluster) {
    TileSequence sequence;
    sequence.reserve(clusters.size() * static_cast<std::size_t>(cluster.ctas()));
    for (const TileCoord& c : clusters) {
        for (std::int32_t rank = 0; rank < cluster.ctas(); ++rank) {
            const TileCoord tile = c == kNoTile ? kNoTile : member(c, cluster, rank);
            const bool inside = tile.row < tiles.rows && tile.column < tiles.columns;
            sequence.push_back(inside ? tile : kNoTile);
        }
    }
    return sequence;
}

}  // namespace l2lens
