// SPDX-License-Identifier: Apache-2.0
// Is it a bijection? Three things go wrong in the field: tiles nobody computes, tiles computed twice, ids
// sent out of range.
#include <algorithm>
#include <string>

#include "base/error.hpp"
#include "order/order.hpp"

namespace l2lens {
namespace {

constexpr std::size_t kMostNamed = 10;

template <class Item>
void name_one(std::vector<Item>& named, std::int64_t& count, const Item& item) {
    ++count;
    if (named.size() < kMostNamed) named.push_back(item);
}

bool inside(TileCoord tile, GridShape grid) {
    return tile.row >= 0 && tile.row < grid.rows && tile.column >= 0 && tile.column < grid.columns;
}

std::string text_of(TileCoord tile) {
    std::string text = "(";
    text.append(std::to_string(tile.row)).append(",").append(std::to_string(tile.column));
    return text + ")";
}
std::string text_of(const OrderCheck::Stray& stray) {
    return text_of(stray.tile) + " from id " + std::to_string(stray.launch_id);
}

// "3 tiles lost: (1,2) (1,3) (2,0)"
template <class Item>
void append(std::string& text, std::int64_t count, const char* one, const char* many,
            const std::vector<Item>& named) {
    if (count == 0) return;
    if (!text.empty()) text += "; ";
    text += std::to_string(count) + " " + (count == 1 ? one : many) + ":";
    for (std::size_t i = 0; i < named.size(); ++i) text += (i == 0 ? " " : ", ") + text_of(named[i]);
    if (count > static_cast<std::int64_t>(named.size())) text += ", ...";
}

}  // namespace

OrderCheck check_order(std::span<const TileCoord> sequence, GridShape grid) {
    if (grid.rows <= 0 || grid.columns <= 0)
        throw BadInput("a grid of " + std::to_string(grid.rows) + " x " + std::to_string(grid.columns) +
                       " tiles cannot be checked; both counts must be at least 1");
    OrderCheck check;
    check.launched = static_cast<std::int64_t>(sequence.size());
    std::vector<unsigned char> visits(static_cast<std::size_t>(grid.tiles()));  // saturates at 2
    for (std::size_t id = 0; id < sequence.size(); ++id) {
        const TileCoord tile = sequence[id];
        if (tile == kNoTile) {
            ++check.no_ops;
        } else if (!inside(tile, grid)) {
            name_one(check.out_of_range, check.out_of_range_count, {static_cast<std::int64_t>(id), tile});
        } else {
            unsigned char& seen =
                visits[static_cast<std::size_t>(tile.row) * static_cast<std::size_t>(grid.columns) +
                       static_cast<std::size_t>(tile.column)];
            if (seen == 1) name_one(check.doubled, check.doubled_count, tile);
            if (seen < 2) ++seen;
        }
    }
    for (std::int64_t i = 0; i < grid.tiles(); ++i)
        if (visits[static_cast<std::size_t>(i)] == 0)
            name_one(check.lost, check.lost_count,
                     TileCoord{static_cast<std::int32_t>(i / grid.columns),
                               static_cast<std::int32_t>(i % grid.columns)});
    return check;
}

std::string OrderCheck::describe() const {
    std::string text;
    append(text, lost_count, "tile lost", "tiles lost", lost);
    append(text, doubled_count, "tile computed more than once", "tiles computed more than once", doubled);
    append(text, out_of_range_count, "id out of range", "ids out of range", out_of_range);
    return text;
}

}  // namespace l2lens
