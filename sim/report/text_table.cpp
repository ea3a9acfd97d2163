// SPDX-License-Identifier: Apache-2.0
#include "report/text_table.hpp"

#include <algorithm>
#include <stdexcept>

#include "report/format.hpp"

namespace l2lens {
namespace {

const char* escape_of(Style style) {
    switch (style) {
        case Style::Plain:
            return "";
        case Style::Bold:
            return "\x1b[1m";
        case Style::Good:
            return "\x1b[32m";
        case Style::Bad:
            return "\x1b[31m";
        case Style::Dim:
            return "\x1b[2m";
    }
    return "";
}

}  // namespace

std::string styled(const std::string& text, Style style, bool colour) {
    if (!colour || style == Style::Plain || text.empty()) return text;
    return escape_of(style) + text + "\x1b[0m";
}

void TextTable::add_row(std::vector<std::string> cells, Style style) {
    if (cells.size() != columns_.size()) throw std::logic_error("a table row needs one cell per column");
    rows_.push_back({std::move(cells), style});
}

std::vector<std::size_t> TextTable::widths() const {
    std::vector<std::size_t> widths(columns_.size(), 0);
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        for (const Row& row : rows_) widths[c] = std::max(widths[c], display_width(row.cells[c]));
        if (widths[c] > 0) widths[c] = std::max(widths[c], display_width(columns_[c].title));
    }
    return widths;
}

std::string TextTable::line(const std::vector<std::string>& cells,
                            const std::vector<std::size_t>& widths) const {
    std::string text;
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        if (widths[c] == 0) continue;
        const std::string padding(widths[c] - std::min(widths[c], display_width(cells[c])), ' ');
        if (!text.empty()) text += "  ";
        text += columns_[c].align == Align::Right ? padding + cells[c] : cells[c] + padding;
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

std::string TextTable::text(bool colour) const {
    const std::vector<std::size_t> column_widths = widths();
    std::vector<std::string> titles;
    for (const Column& column : columns_) titles.push_back(column.title);
    std::string text = styled(line(titles, column_widths), Style::Bold, colour) + "\n";
    for (const Row& row : rows_) text += styled(line(row.cells, column_widths), row.style, colour) + "\n";
    return text;
}

}  // namespace l2lens
