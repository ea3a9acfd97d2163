// SPDX-License-Identifier: Apache-2.0
// From a name to a sequence: [outer_fastest:][REMAP+...]ORDER, each part a name with its parameters after
// colons.
#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "order/catalogue.hpp"

namespace l2lens {
namespace {

const OrderRow& find_row(std::string_view name) {
    std::vector<std::string> names;
    for (const OrderRow& row : order_rows()) {
        if (row.info.name == name) return row;
        names.push_back(row.info.name);
    }
    throw BadInput("unknown order '" + std::string(name) + "'" + suggestion(name, names));
}

void check_grid(GridShape grid) {
    if (grid.rows < 1 || grid.columns < 1 || grid.tiles() > kMostLaunched)
        throw BadInput("a grid of " + std::to_string(grid.rows) + " x " + std::to_string(grid.columns) +
                       " tiles; both counts must be at least 1 and the product at most " +
                       std::to_string(kMostLaunched));
}

// 16 CTAs are the largest (non-portable) cluster of CUDA.
void check_context(const OrderContext& context) {
    struct Size {
        const char* what;
        int value;
        int most;
    };
    const std::array<Size, 4> sizes{{{"SMs", context.sms, 1 << 16},
                                     {"XCDs", context.xcds, 1 << 16},
                                     {"cluster rows", context.cluster_rows, 16},
                                     {"cluster columns", context.cluster_columns, 16}}};
    for (const Size& size : sizes)
        if (size.value < 1 || size.value > size.most)
            throw BadInput(std::string(size.what) + " = " + std::to_string(size.value) + " is outside 1 to " +
                           std::to_string(size.most));
}

// One name of a chain with its parameters.
struct Part {
    const OrderRow* row;
    OrderArgs args;
};

Part parse_part(std::string_view text) {
    std::vector<std::string_view> words = split_at(text, ':');
    const OrderRow& row = find_row(words.front());
    words.erase(words.begin());
    return {&row, parse_order_args(text, row.info.usage, row.params, words)};
}

// What a kernel computes for an id beyond its grid differs from order to order; all of it is out of range.
// The id's place in a grid that went on downwards keeps it recognisable.
TileCoord beyond(Index id, Index launched, GridShape grid) {
    const Index excess = id - launched;
    return tile_at(grid.rows + excess / grid.columns, excess % grid.columns);
}

TileSequence remapped(const TileSequence& plane, const Part& part, GridShape grid,
                      const OrderContext& context) {
    const Index launched = std::ssize(plane);
    return map_ids(launched, [&](Index id) {
        const Index target = part.row->remap(id, launched, part.args, context);
        return target < launched ? plane[static_cast<std::size_t>(target)] : beyond(target, launched, grid);
    });
}

}  // namespace

void check_launched(Index launched) {
    if (launched > kMostLaunched)
        throw BadInput("the order launches " + std::to_string(launched) + " CTAs with its padding; at most " +
                       std::to_string(kMostLaunched) + " are taken");
}

bool follows_from_kernel(std::string_view name) {
    const std::string_view last = split_at(split_outer(name).plane, '+').back();
    return std::ranges::any_of(order_rows(), [&](const OrderRow& row) {
        return row.info.of_kernel && row.info.name == split_at(last, ':').front();
    });
}

TileSequence make_order(std::string_view name, GridShape grid, const OrderContext& context) {
    check_grid(grid);
    check_context(context);
    name = split_outer(name).plane;
    if (name.empty()) throw BadInput("an order's name is empty; `order list` shows them all");

    std::vector<Part> parts;
    for (const std::string_view text : split_at(name, '+')) parts.push_back(parse_part(text));
    for (std::size_t i = 0; i + 1 < parts.size(); ++i)
        if (parts[i].row->remap == nullptr)
            throw BadInput("order '" + std::string(name) + "': '" + parts[i].args.text +
                           "' is a whole order; only a remap of launch ids (xcd_...) may stand before a '+'");

    TileSequence sequence;
    if (parts.back().row->build != nullptr) {
        sequence = parts.back().row->build(parts.back().args, grid, context);
        parts.pop_back();
    } else {
        sequence = row_major({}, grid, context);  // a remap alone stands before the plain order
    }
    std::reverse(parts.begin(), parts.end());  // the one next to the order first
    for (const Part& part : parts) sequence = remapped(sequence, part, grid, context);
    return sequence;
}

}  // namespace l2lens
