// SPDX-License-Identifier: Apache-2.0
// Orders a user brings, beside the built-in ones:
//   lua:CHUNK    called for each pid in [0, tm*tn) with pid, tm, tn, and cdiv, min, max, sms, xcds at hand;
//   returns row,
//                column, or nothing for a no-op CTA. An expression will do: 'lua: pid // tn, pid % tn'
//   file:PATH    one "row column" per line in launch order, "-" for a no-op CTA, '#' begins a comment
// Whether the result is a bijection is check_order()'s question.
#pragma once

#include <string>
#include <vector>

#include "order/order.hpp"

namespace l2lens {

// Any order by name: lua:, file:, or make_order()'s.
TileSequence resolve_order(const std::string& name, GridShape grid, const OrderContext& context = {});

// The values of --order as single names: comma lists are split, but a value that begins with lua: or file: is
// one name; "common" and "all" stand for their lists. A name said twice is kept once, in its first place.
std::vector<std::string> split_order_list(const std::vector<std::string>& arguments);

}  // namespace l2lens
