// SPDX-License-Identifier: Apache-2.0
// The axes outside the ordered plane: batch, head, split. CUDA launches them slowest when they are on
// blockIdx.z; a kernel that puts them on blockIdx.x runs all copies of a tile side by side.
#include "base/error.hpp"
#include "order/families.hpp"

namespace l2lens {

OuterSplit split_outer(std::string_view name) {
    constexpr std::string_view prefix = "outer_fastest:";
    if (name.substr(0, prefix.size()) != prefix) return {name, false};
    return {name.substr(prefix.size()), true};
}

std::vector<OuterTile> expand_outer(std::span<const TileCoord> plane, std::int64_t outer,
                                    bool outer_fastest) {
    if (outer < 1) throw BadInput("outer axes of " + std::to_string(outer) + " copies; at least 1 is needed");
    const auto tiles = static_cast<Index>(plane.size());
    if (tiles > 0 && outer > kMostLaunched / tiles)
        throw BadInput("outer axes of " + std::to_string(outer) + " copies of " + std::to_string(tiles) +
                       " CTAs; at most " + std::to_string(kMostLaunched) + " are taken");
    std::vector<OuterTile> launch;
    launch.reserve(static_cast<std::size_t>(tiles * outer));
    for (Index id = 0; id < tiles * outer; ++id) {
        const Index in_plane = outer_fastest ? id / outer : id % tiles;
        const Index copy = outer_fastest ? id % outer : id / tiles;
        launch.push_back({plane[static_cast<std::size_t>(in_plane)], copy});
    }
    return launch;
}

std::vector<OuterTile> make_outer_order(std::string_view name, GridShape grid, std::int64_t outer,
                                        const OrderContext& context) {
    return expand_outer(make_order(name, grid, context), outer, split_outer(name).outer_fastest);
}

}  // namespace l2lens
