// SPDX-License-Identifier: Apache-2.0
// What every kernel here is launched with: an order table, a mode, and where to leave a record of what ran
// when. Plain types only: the code that calls a kernel need not see CUDA.
#pragma once

#include <cstdint>

namespace l2lens::gpu {

// Grid: one CTA per launch id. Static: persistent CTAs take launch ids i, i + CTAs, ... Dynamic: the next one
// from a counter. With clusters a work item is one launch id per CTA of the cluster.
enum class LaunchMode : std::int32_t { Grid, Static, Dynamic };

// A tile in the device's order table: row in the upper, column in the lower 16 bits.
inline constexpr std::uint32_t kNoTilePacked = 0xFFFFFFFFu;  // a launch id that does nothing

constexpr std::uint32_t pack_tile(std::uint32_t row, std::uint32_t column) {
    return row << 16 | column;
}

// When and where a launch id ran, by the GPU's %globaltimer. A persistent CTA's loads of a tile start while
// the previous tile is still computed: start is the first load's issue. End is where the kernel's first math
// warp is through with the tile: its last store has left shared memory (attention), or has been issued and
// may still be read from there (gemm).
struct TileRecord {
    std::int32_t launch_id;
    std::int32_t sm;
    std::int64_t start_ns;
    std::int64_t end_ns;
};

// All pointers are device memory and belong to the caller.
struct LaunchPlan {
    const std::uint32_t* order = nullptr;  // launch id -> packed tile
    std::int64_t launches = 0;             // entries of `order`
    LaunchMode mode = LaunchMode::Grid;
    int persistent_ctas = 0;           // for Static and Dynamic: usually one per SM
    std::uint32_t* counter = nullptr;  // for Dynamic; set to zero before the launch
    TileRecord* records = nullptr;     // one per launch id, or none
    void* stream = nullptr;            // a cudaStream_t
};

}  // namespace l2lens::gpu
