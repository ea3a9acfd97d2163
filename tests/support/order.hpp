// SPDX-License-Identifier: Apache-2.0
// Small sequences as text, "00 10 01" for (0,0) (1,0) (0,1): how the golden vectors are written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "order/order.hpp"

namespace l2lens::test {

// Rows and columns above 9 appear in full: "10,0"; a no-op is "-".
inline std::string text_of(const TileSequence& sequence) {
    std::string text;
    for (const TileCoord& tile : sequence) {
        if (!text.empty()) text += ' ';
        if (tile == kNoTile)
            text += '-';
        else if (tile.row > 9 || tile.column > 9 || tile.row < 0 || tile.column < 0)
            text += std::to_string(tile.row) + ',' + std::to_string(tile.column);
        else
            text += std::to_string(tile.row) + std::to_string(tile.column);
    }
    return text;
}

inline std::string order_text(const std::string& name, GridShape grid, const OrderContext& context = {}) {
    return text_of(make_order(name, grid, context));
}

inline bool is_bijection(const TileSequence& sequence, GridShape grid) {
    return check_order(sequence, grid).bijection();
}

// {tile_of(0), tile_of(1), ...}; a formula under test gives a pair of 64-bit numbers.
template <class TileOf>
TileSequence sequence_of(std::int64_t launched, TileOf tile_of) {
    TileSequence sequence;
    for (std::int64_t id = 0; id < launched; ++id) {
        const auto [row, column] = tile_of(id);
        sequence.push_back({static_cast<std::int32_t>(row), static_cast<std::int32_t>(column)});
    }
    return sequence;
}

// All grids of 1..most x 1..most tiles.
template <class Body>
void for_each_grid(std::int32_t most, Body body) {
    for (std::int32_t rows = 1; rows <= most; ++rows)
        for (std::int32_t columns = 1; columns <= most; ++columns) body(GridShape{rows, columns});
}

}  // namespace l2lens::test
