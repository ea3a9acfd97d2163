// SPDX-License-Identifier: Apache-2.0
// Orders of clusters. A cluster of rows x columns CTAs has consecutive launch ids and computes an aligned
// block of tiles, column fastest. CUTLASS's orders speak of CTAs and say so themselves; any other order walks
// the grid of clusters.
#pragma once

#include <span>

#include "order/order.hpp"

namespace l2lens {

struct ClusterShape {
    std::int32_t rows = 1;
    std::int32_t columns = 1;
    std::int32_t ctas() const { return rows * columns; }
};

// Clusters along each axis, those that stick out of the grid included.
GridShape cluster_grid(GridShape tiles, ClusterShape cluster);

// Does each run of cluster.ctas() launch ids compute one aligned block of tiles?
bool launches_clusters(std::span<const TileCoord> sequence, ClusterShape cluster);

// From clusters to their CTAs: tiles outside the grid become no-op CTAs.
TileSequence expand_clusters(std::span<const TileCoord> clusters, GridShape tiles, ClusterShape cluster);

}  // namespace l2lens
