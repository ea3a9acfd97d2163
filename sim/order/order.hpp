// SPDX-License-Identifier: Apache-2.0
// A tile order: launch id -> tile. Pure integer functions on the two ordered axes of a kernel's grid; a tile
// may also be missing (a no-op CTA, as CUTLASS pads). Names are the field's: row_major, group_m:8 (Triton's
// GROUP_SIZE_M), cutlass3:8:along_m, hilbert, ...
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace l2lens {

// Tile counts along the ordered axes.
struct GridShape {
    std::int32_t rows = 0;     // TM
    std::int32_t columns = 0;  // TN
    std::int64_t tiles() const { return static_cast<std::int64_t>(rows) * columns; }
};

struct TileCoord {
    std::int32_t row = 0;
    std::int32_t column = 0;
    friend bool operator==(const TileCoord&, const TileCoord&) = default;
};

inline constexpr TileCoord kNoTile{-1, -1};

// tiles[launch id] of one 2-D grid; kNoTile for a no-op CTA. Tiles may lie out of range: check_order() says
// so.
using TileSequence = std::vector<TileCoord>;

struct SharedPieces;  // kernel/shared_pieces.hpp

// What an order may look at besides the grid.
struct OrderContext {
    int sms = 132;         // CTAs of a wave
    int xcds = 8;          // XCDs for the remaps of MI300X-like GPUs
    int cluster_rows = 1;  // CTAs of a cluster
    int cluster_columns = 1;
    // For orders that follow from what the CTAs of a kernel read: that, and how many of them run at once.
    const SharedPieces* shared = nullptr;
    std::int64_t wave = 132;
};

// One row of the catalogue.
struct OrderInfo {
    std::string name;        // "group_m"
    std::string usage;       // "group_m:G"
    std::string usual;       // with the usual parameters: "group_m:8"; what `--order all` runs
    std::string meaning;     // one line
    std::string source;      // where the formula comes from
    bool of_kernel = false;  // follows from what a kernel's CTAs read: OrderContext::shared
};

// The catalogue, in the order of `order list`.
std::span<const OrderInfo> order_catalogue();

// The dozen of `--order common`, most of them worth trying on any GEMM.
std::span<const std::string> common_orders();

// Builds an order by name ("group_m:8"). Throws BadInput for an unknown name (nearest one suggested), a wrong
// number of parameters, a parameter out of range, or a grid the order does not cover (fast.cu asserts; so do
// we). A remap of launch ids stands before the order it feeds: "xcd_chunked:64+group_m:8".
TileSequence make_order(std::string_view name, GridShape grid, const OrderContext& context = {});

// Does the order ask for OrderContext::shared? False for what is no order at all.
bool follows_from_kernel(std::string_view name);

// What is wrong with a sequence over a grid; all empty and zero for a bijection.
struct OrderCheck {
    std::int64_t launched = 0;
    std::int64_t no_ops = 0;
    std::int64_t lost_count = 0;
    std::int64_t doubled_count = 0;
    std::int64_t out_of_range_count = 0;
    std::vector<TileCoord> lost;  // the first ten of each
    std::vector<TileCoord> doubled;
    struct Stray {
        std::int64_t launch_id;
        TileCoord tile;
    };
    std::vector<Stray> out_of_range;

    bool bijection() const { return lost_count == 0 && doubled_count == 0 && out_of_range_count == 0; }
    // "3 tiles lost: (1,2) (1,3) ...; 1 doubled: ...", or "" for a bijection.
    std::string describe() const;
};

OrderCheck check_order(std::span<const TileCoord> sequence, GridShape grid);

// Distinct rows and columns of the launch-consecutive windows of `wave` CTAs: what a wave shares.
struct WaveFootprint {
    double mean_rows = 0;
    double mean_columns = 0;
    std::int64_t jumps = 0;  // consecutive launch ids whose tiles are not edge neighbours
    double waves = 0;
};

// Over whole waves; no-op CTAs take no place in one.
WaveFootprint wave_footprint(std::span<const TileCoord> sequence, std::int64_t wave);

// The plain order ("row_major", "group_m:8", ...) that a sequence equals on this grid, no-ops aside, or "".
// An order that equals one by accident of its parameters, or a remap whose result is dropped, does not do
// what its author meant.
std::string equal_plain_order(std::span<const TileCoord> sequence, GridShape grid);

// The outer axes (batch, head, split). They run slowest unless the name begins with "outer_fastest:".
struct OuterSplit {
    std::string_view plane;  // the name without the prefix
    bool outer_fastest = false;
};
OuterSplit split_outer(std::string_view name);

struct OuterTile {
    TileCoord tile;
    std::int64_t outer = 0;
    friend bool operator==(const OuterTile&, const OuterTile&) = default;
};
// The launch of `outer` copies of a plane: plane after plane, or all copies of a tile side by side.
std::vector<OuterTile> expand_outer(std::span<const TileCoord> plane, std::int64_t outer, bool outer_fastest);
std::vector<OuterTile> make_outer_order(std::string_view name, GridShape grid, std::int64_t outer,
                                        const OrderContext& context = {});

// The group size DeepGEMM picks for a block shape (8 or 16).
std::int64_t deepgemm_group_size(std::int64_t block_m, std::int64_t block_n, int sms, bool multicast_a);

}  // namespace l2lens
