// SPDX-License-Identifier: Apache-2.0
#include "report/order_report.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "report/csv.hpp"
#include "report/format.hpp"
#include "report/json_meta.hpp"
#include "report/text_table.hpp"

namespace l2lens {
namespace {

using nlohmann::ordered_json;

constexpr std::int32_t kMostShown = 32;  // rows and columns of a picture

// The order of the work: no-ops do not count.
TileSequence without_no_ops(const TileSequence& sequence) {
    TileSequence tiles;
    std::copy_if(sequence.begin(), sequence.end(), std::back_inserter(tiles),
                 [](TileCoord tile) { return tile != kNoTile; });
    return tiles;
}

// Built-in orders that visit the tiles in the same sequence: at their usual parameters, and of the plain ones
// at any.
std::vector<std::string> equal_orders(const std::string& name, GridShape grid, const TileSequence& sequence,
                                      const OrderContext& context) {
    const TileSequence tiles = without_no_ops(sequence);
    std::vector<std::string> equal;
    for (const OrderInfo& info : order_catalogue()) {
        if (info.usual == name) continue;
        try {
            if (without_no_ops(make_order(info.usual, grid, context)) == tiles) equal.push_back(info.usual);
        } catch (const BadInput&) {
            // It does not cover this grid, so it is not the same.
        }
    }
    const std::string plain = equal_plain_order(sequence, grid);
    if (!plain.empty() && plain != name && std::find(equal.begin(), equal.end(), plain) == equal.end())
        equal.push_back(plain);
    return equal;
}

// The first few; a small grid makes many orders equal.
std::string joined(const std::vector<std::string>& names) {
    constexpr std::size_t kMostNamed = 5;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
        text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kMostNamed) text += fmt::format(" and {} more", names.size() - kMostNamed);
    return text;
}

ordered_json tiles_json(const std::vector<TileCoord>& tiles) {
    ordered_json array = ordered_json::array();
    for (const TileCoord tile : tiles) array.push_back({tile.row, tile.column});
    return array;
}

double no_op_pct(const OrderCheck& check) {
    return check.launched > 0
               ? 100.0 * static_cast<double>(check.no_ops) / static_cast<double>(check.launched)
               : 0;
}

// "11.5 columns", "1 row".
std::string mean_text(double mean, std::string_view word) {
    const std::string number = format_plain(mean);
    return fmt::format("{} {}{}", number, word, number == "1" ? "" : "s");
}

}  // namespace

OrderReport describe_order(const std::string& name, GridShape grid, TileSequence sequence,
                           const OrderContext& context) {
    OrderReport report;
    report.order = name;
    report.grid = grid;
    report.check = check_order(sequence, grid);
    report.wave = std::min<std::int64_t>(context.sms, grid.tiles());
    report.footprint = wave_footprint(sequence, report.wave);
    report.same_as = equal_orders(name, grid, sequence, context);
    report.sequence = std::move(sequence);
    return report;
}

std::string order_check_text(const OrderReport& report, bool colour) {
    const OrderCheck& check = report.check;
    std::string text = fmt::format("{} on {} x {} tile{}: ", one_line(report.order, 60), report.grid.rows,
                                   report.grid.columns, report.grid.tiles() == 1 ? "" : "s");
    text += check.bijection() ? styled("a bijection", Style::Good, colour)
                              : styled("NOT a bijection", Style::Bad, colour) + ": " + check.describe();
    text += "\n";
    if (check.no_ops > 0) {
        text += fmt::format("{} of {} launched CTAs are no-ops: {} of the launch slots do no work\n",
                            check.no_ops, check.launched, format_percent(no_op_pct(check)));
    }
    if (!report.same_as.empty())
        text += fmt::format("the same sequence of tiles as {}\n", joined(report.same_as));
    text += fmt::format(
        "a wave of {} touches {} and {} on average; {} of {} steps jump to a tile that is no neighbour\n",
        counted(report.wave, "tile"), mean_text(report.footprint.mean_rows, "row"),
        mean_text(report.footprint.mean_columns, "column"), report.footprint.jumps,
        std::max<std::int64_t>(check.launched - check.no_ops - 1, 0));
    return text;
}

std::string order_check_json(const OrderReport& report) {
    const OrderCheck& check = report.check;
    ordered_json strays = ordered_json::array();
    for (const OrderCheck::Stray& stray : check.out_of_range) {
        strays.push_back({{"launch_id", stray.launch_id}, {"tile", {stray.tile.row, stray.tile.column}}});
    }
    return document_text({{"schema", "l2lens/order_check"},
                          {"schema_version", kSchemaVersion},
                          {"order", report.order},
                          {"grid", {{"rows", report.grid.rows}, {"columns", report.grid.columns}}},
                          {"bijection", check.bijection()},
                          {"launched", check.launched},
                          {"no_ops", check.no_ops},
                          {"no_op_pct", json_of(no_op_pct(check))},
                          {"lost_count", check.lost_count},
                          {"lost", tiles_json(check.lost)},
                          {"doubled_count", check.doubled_count},
                          {"doubled", tiles_json(check.doubled)},
                          {"out_of_range_count", check.out_of_range_count},
                          {"out_of_range", std::move(strays)},
                          {"same_as", report.same_as},
                          {"wave",
                           {{"tiles", report.wave},
                            {"mean_rows", json_of(report.footprint.mean_rows)},
                            {"mean_columns", json_of(report.footprint.mean_columns)},
                            {"jumps", report.footprint.jumps}}}});
}

std::string order_picture(const OrderReport& report) {
    const std::int32_t rows = std::min(report.grid.rows, kMostShown),
                       columns = std::min(report.grid.columns, kMostShown);
    std::vector<std::vector<std::string>> cells(
        static_cast<std::size_t>(rows), std::vector<std::string>(static_cast<std::size_t>(columns), "."));
    for (std::size_t id = 0; id < report.sequence.size(); ++id) {
        const TileCoord tile = report.sequence[id];
        if (tile.row < 0 || tile.row >= rows || tile.column < 0 || tile.column >= columns) continue;
        std::string& cell = cells[static_cast<std::size_t>(tile.row)][static_cast<std::size_t>(tile.column)];
        cell = cell == "." ? std::to_string(id) : cell + "+";  // computed more than once
    }
    std::vector<TextTable::Column> titles{{"", Align::Right}};
    for (std::int32_t c = 0; c < columns; ++c) titles.push_back({"n" + std::to_string(c), Align::Right});
    TextTable table(std::move(titles));
    for (std::size_t r = 0; r < cells.size(); ++r) {
        cells[r].insert(cells[r].begin(), "m" + std::to_string(r));
        table.add_row(std::move(cells[r]));
    }
    std::string text = table.text(false);
    if (rows < report.grid.rows || columns < report.grid.columns) {
        text += fmt::format("(the first {} x {} of {} x {} tiles)\n", rows, columns, report.grid.rows,
                            report.grid.columns);
    }
    return text;
}

std::string order_sequence_csv(const OrderReport& report) {
    std::string text = csv_line({"launch_id", "row", "column"});
    for (std::size_t id = 0; id < report.sequence.size(); ++id) {
        const TileCoord tile = report.sequence[id];
        const bool no_op = tile == kNoTile;
        text += csv_line({std::to_string(id), no_op ? "" : std::to_string(tile.row),
                          no_op ? "" : std::to_string(tile.column)});
    }
    return text;
}

std::string order_sequence_json(const OrderReport& report) {
    ordered_json tiles = ordered_json::array();
    for (const TileCoord tile : report.sequence) {
        tiles.push_back(tile == kNoTile ? ordered_json(nullptr) : ordered_json{tile.row, tile.column});
    }
    return document_text({{"schema", "l2lens/order"},
                          {"schema_version", kSchemaVersion},
                          {"order", report.order},
                          {"grid", {{"rows", report.grid.rows}, {"columns", report.grid.columns}}},
                          {"tiles", std::move(tiles)}});
}

}  // namespace l2lens
