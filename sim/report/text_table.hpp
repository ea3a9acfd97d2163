// SPDX-License-Identifier: Apache-2.0
// Aligned columns for a terminal.
#pragma once

#include <string>
#include <vector>

namespace l2lens {

enum class Align { Left, Right };
enum class Style { Plain, Bold, Good, Bad, Dim };

// The text in an SGR escape sequence, or as it is without colour.
std::string styled(const std::string& text, Style style, bool colour);

class TextTable {
public:
    struct Column {
        std::string title;
        Align align = Align::Left;
    };

    explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}

    // As many cells as there are columns.
    void add_row(std::vector<std::string> cells, Style style = Style::Plain);

    // The title row, then the rows; two spaces between columns, no blanks at the end of a line. Columns
    // without any text are left out.
    std::string text(bool colour) const;

private:
    struct Row {
        std::vector<std::string> cells;
        Style style;
    };

    std::vector<std::size_t> widths() const;
    std::string line(const std::vector<std::string>& cells, const std::vector<std::size_t>& widths) const;

    std::vector<Column> columns_;
    std::vector<Row> rows_;
};

}  // namespace l2lens
