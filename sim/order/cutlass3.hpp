// SPDX-License-Identifier: Apache-2.0
// The arithmetic that CUTLASS 3's static and grouped schedulers share.
#pragma once

#include "order/families.hpp"

namespace l2lens {

enum class Raster { AlongM, AlongN };

// A grid padded to the swizzle times the cluster, walked in clusters.
struct Sm90Raster {
    Raster raster = Raster::AlongN;
    int log_swizzle = 0;
    Index rows = 0;  // CTAs, padded
    Index columns = 0;
    Index cluster_rows = 1;
    Index cluster_columns = 1;

    Index launched() const { return rows * columns; }
    // The tile of the scheduler's linear id; it may lie in the padding.
    TileCoord tile_of(Index linear) const;
};

// log2 of the swizzle: the largest power of two up to `most` that is not mostly padding on the smaller side.
int sm90_log_swizzle(Index rows, Index columns, Index most);

// `rows` and `columns` must already be multiples of the cluster where the scheduler rounds them first.
Sm90Raster sm90_raster(Raster raster, int log_swizzle, Index rows, Index columns,
                       const OrderContext& context);

}  // namespace l2lens
