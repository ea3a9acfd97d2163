// SPDX-License-Identifier: Apache-2.0
#include "report/listing.hpp"

#include "report/csv.hpp"
#include "report/format.hpp"
#include "report/json_meta.hpp"
#include "report/text_table.hpp"

namespace l2lens {

std::string listing_text(const Listing& listing, bool colour, std::size_t widest) {
    if (listing.rows.empty()) return "";
    std::vector<TextTable::Column> columns;
    for (const std::string& title : listing.columns) columns.push_back({title, Align::Left});
    TextTable table(std::move(columns));
    for (const auto& row : listing.rows) {
        std::vector<std::string> cells;
        for (const std::string& cell : row) cells.push_back(one_line(cell, widest));
        table.add_row(std::move(cells));
    }
    return table.text(colour);
}

std::string listing_json(const Listing& listing) {
    auto rows = nlohmann::ordered_json::array();
    for (const auto& row : listing.rows) {
        auto object = nlohmann::ordered_json::object();
        for (std::size_t c = 0; c < row.size(); ++c) object[listing.columns[c]] = row[c];
        rows.push_back(std::move(object));
    }
    return document_text(
        {{"schema", listing.schema}, {"schema_version", kSchemaVersion}, {"rows", std::move(rows)}});
}

std::string listing_csv(const Listing& listing) {
    std::string text = csv_line(listing.columns);
    for (const auto& row : listing.rows) text += csv_line(row);
    return text;
}

}  // namespace l2lens
