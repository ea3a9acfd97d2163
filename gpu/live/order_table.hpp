// SPDX-License-Identifier: Apache-2.0
// An order as the kernels read it.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "order/order.hpp"

#include "gpu/live/live.hpp"

namespace l2lens::gpu {

// Packs an order over the shape's grid. In clusters, launch ids 2i and 2i+1 must be tiles of one column (2x1:
// they share B) or one row (1x2: they share A); the partner of a no-op becomes a tile outside the matrices,
// whose loads read zeros and whose stores are clipped, because both CTAs of a cluster load halves of what
// they share.
std::vector<std::uint32_t> pack_order(std::span<const TileCoord> order, const LiveShape& shape);

}  // namespace l2lens::gpu
