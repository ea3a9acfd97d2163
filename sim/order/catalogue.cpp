// SPDX-License-Identifier: Apache-2.0
// The catalogue: one row per order, and how a name becomes a sequence.
#include <array>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "order/families.hpp"

namespace l2lens {
namespace {

struct OrderRow {
    OrderInfo info;
    std::vector<OrderParam> params;
    BuildOrder build;
};

const std::vector<OrderRow>& rows() {
    using P = OrderParam;
    static const std::vector<OrderRow> table{
        {{"row_major", "row_major", "row_major", "n fastest: CUDA's own order with n on blockIdx.x",
          "CUDA C++ Programming Guide, thread hierarchy"},
         {},
         row_major},
        {{"column_major", "column_major", "column_major", "m fastest: CUDA's own order with m on blockIdx.x",
          "CUDA C++ Programming Guide, thread hierarchy"},
         {},
         column_major},
        {{"group_m", "group_m:G", "group_m:8",
          "groups of G tile rows, m fastest inside, the last group narrower",
          "Triton tutorial 03, GROUP_SIZE_M"},
         {P::integer("G")},
         group_m},
        {{"group_n", "group_n:G", "group_n:8",
          "groups of G tile columns, n fastest inside: group_m transposed", "Triton tutorial 03, transposed"},
         {P::integer("G")},
         group_n},
        {{"serpentine_m", "serpentine_m[:G]", "serpentine_m:8",
          "group_m whose odd groups walk n backwards; without G boustrophedon rows",
          "Ukarande, Patidar, Rangan, ACM TACO 19(1), 2021 (boustrophedonic CTA order)"},
         {P::integer("G").or_else(1)},
         serpentine_m},
        {{"serpentine_n", "serpentine_n[:G]", "serpentine_n:8",
          "group_n whose odd groups walk m backwards; without G boustrophedon columns",
          "Ukarande, Patidar, Rangan, ACM TACO 19(1), 2021, transposed"},
         {P::integer("G").or_else(1)},
         serpentine_n},
        {{"hilbert", "hilbert", "hilbert",
          "Hilbert's curve on the next power-of-two square, cells outside skipped",
          "Warren, Hacker's Delight, chapter 16 (d2xy), x = m"},
         {},
         hilbert},
        {{"gilbert", "gilbert", "gilbert", "the generalised Hilbert curve, unbroken on any rectangle",
          "Cerveny, github.com/jakubcerveny/gilbert, x = m"},
         {},
         gilbert},
        {{"morton", "morton", "morton", "Z-order: bits of m and n interleaved, cells outside skipped",
          "Morton, IBM, 1966; bit 2b+1 -> m, bit 2b -> n"},
         {},
         morton},
        {{"diagonal", "diagonal", "diagonal",
          "for d, for i: (i, (i + d) mod columns); neighbours share nothing",
          "Ruetsch, Micikevicius, Optimizing Matrix Transpose in CUDA, 2009"},
         {},
         diagonal},
        {{"anti_diagonal", "anti_diagonal", "anti_diagonal",
          "wavefronts of constant m + n, as stencil sweeps need",
          "Lamport, The parallel execution of DO loops, CACM 17(2), 1974 (wavefront)"},
         {},
         anti_diagonal},
        {{"random", "random:SEED", "random:1", "a fixed shuffle of all tiles: no locality to speak of",
          "Fisher, Yates, 1938; Durstenfeld, CACM 7(7), 1964"},
         {P::integer("SEED", 0, std::numeric_limits<Index>::max())},
         shuffled},
    };
    return table;
}

const OrderRow& find_row(std::string_view name) {
    for (const OrderRow& row : rows())
        if (row.info.name == name) return row;
    std::vector<std::string> names;
    for (const OrderRow& row : rows()) names.push_back(row.info.name);
    throw BadInput("unknown order '" + std::string(name) + "'" + suggestion(name, names));
}

void check_grid(GridShape grid) {
    if (grid.rows < 1 || grid.columns < 1 || grid.tiles() > kMostLaunched)
        throw BadInput("a grid of " + std::to_string(grid.rows) + " x " + std::to_string(grid.columns) +
                       " tiles; both counts must be at least 1 and the product at most " +
                       std::to_string(kMostLaunched));
}

void check_context(const OrderContext& context) {
    const std::array<std::pair<const char*, int>, 4> sizes{{{"SMs", context.sms},
                                                            {"XCDs", context.xcds},
                                                            {"cluster rows", context.cluster_rows},
                                                            {"cluster columns", context.cluster_columns}}};
    for (const auto& [what, value] : sizes)
        if (value < 1 || value > (1 << 16))
            throw BadInput(std::string(what) + " = " + std::to_string(value) + " is outside 1 to 65536");
}

}  // namespace

std::span<const OrderInfo> order_catalogue() {
    static const std::vector<OrderInfo> infos = [] {
        std::vector<OrderInfo> all;
        for (const OrderRow& row : rows()) all.push_back(row.info);
        return all;
    }();
    return infos;
}

// group_m:12 is the twelfth: sqrt(132) = 11.5 rows is what makes the footprint of a wave of 132 equal-sided
// tiles least.
std::span<const std::string> common_orders() {
    static const std::vector<std::string> names{"row_major",  "column_major", "group_m:4", "group_m:8",
                                                "group_m:12", "group_m:16",   "group_n:8", "serpentine_m:8",
                                                "hilbert",    "gilbert",      "morton",    "diagonal"};
    return names;
}

TileSequence make_order(std::string_view name, GridShape grid, const OrderContext& context) {
    check_grid(grid);
    check_context(context);
    if (name.empty()) throw BadInput("an order's name is empty; `order list` shows them all");
    std::vector<std::string_view> words = split_at(name, ':');
    const OrderRow& row = find_row(words.front());
    words.erase(words.begin());
    return row.build(parse_order_args(name, row.info.usage, row.params, words), grid, context);
}

}  // namespace l2lens
