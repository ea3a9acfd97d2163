// SPDX-License-Identifier: Apache-2.0
// A row of the catalogue: what a user reads about an order, the parameters it takes and the formula behind
// it.
#pragma once

#include <vector>

#include "order/families.hpp"

namespace l2lens {

struct OrderRow {
    OrderInfo info;
    std::vector<OrderParam> params;
    BuildOrder build = nullptr;  // launch id -> tile, or
    RemapId remap = nullptr;     // launch id -> launch id of the order it stands before: remap+ORDER
};

const std::vector<OrderRow>& order_rows();

}  // namespace l2lens
