// SPDX-License-Identifier: Apache-2.0
// Which K range of which tile each CTA computes when K is divided as CUTLASS 2 and 3 do it. An order says
// which tile; this says how much of it. Osama et al., "Stream-K", PPoPP 2023. Kernel files ask for it with
// stream_k_plan().
#pragma once

#include <vector>

#include "order/params.hpp"

namespace l2lens {

// A piece of one tile's K loop. A unit works through its pieces in the order they are listed.
struct WorkItem {
    Index unit = 0;     // place in launch order
    Index tile = 0;     // place in the plane's order
    Index k_begin = 0;  // K steps, the end excluded
    Index k_end = 0;
    friend bool operator==(const WorkItem&, const WorkItem&) = default;
};

struct WorkPlan {
    Index stream_k_tiles = 0;  // tiles whose K loop is divided; the first of the order
    Index stream_k_units = 0;  // CTAs among which it is; the first launched
    Index splits = 1;          // > 1: every divided tile in as many equal parts, that is split-K
    Index groups = 1;          // CUTLASS 3: independent streams, interleaved over the tiles
    std::vector<WorkItem> items;
};

// CUTLASS 2.x, threadblock_swizzle_streamk.h. `occupancy`: CTAs per SM. Without the id shuffle it applies at
// more than one CTA per SM, and without its reduction CTAs.
WorkPlan cutlass2_stream_k_plan(Index tiles, Index k_steps, Index sms, Index occupancy);

// CUTLASS 3.x on SM90, tile_scheduler_params.h (PersistentTileSchedulerSm90StreamK).
struct Sm90StreamK {
    Index wave = 132;        // CTAs launched
    Index cluster_size = 1;  // CTAs of a cluster: they share a K range, each with a tile of its own
    Index most_groups = 8;   // clusters along the raster's major axis bound it too
    bool heuristic = true;   // leave Stream-K alone where the last wave is at least half full
};
WorkPlan sm90_stream_k_plan(Index tiles, Index k_steps, const Sm90StreamK& settings);

}  // namespace l2lens
