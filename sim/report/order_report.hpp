// SPDX-License-Identifier: Apache-2.0
// What `order show` and `order check` say about an order on a grid.
#pragma once

#include <string>
#include <vector>

#include "order/order.hpp"

namespace l2lens {

struct OrderReport {
    std::string order;
    GridShape grid;
    TileSequence sequence;
    OrderCheck check;
    WaveFootprint footprint;
    std::int64_t wave = 0;             // CTAs at one per SM
    std::vector<std::string> same_as;  // built-in orders with the same sequence of tiles on this grid
};

OrderReport describe_order(const std::string& name, GridShape grid, TileSequence sequence,
                           const OrderContext& context);

std::string order_check_text(const OrderReport& report, bool colour);
std::string order_check_json(const OrderReport& report);

// The launch id on each tile; what does not fit a terminal is cut, and said to be.
std::string order_picture(const OrderReport& report);

// launch_id, row, column; empty for a no-op.
std::string order_sequence_csv(const OrderReport& report);
std::string order_sequence_json(const OrderReport& report);

}  // namespace l2lens
