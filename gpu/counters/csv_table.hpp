// SPDX-License-Identifier: Apache-2.0
// A CSV file (RFC 4180) as a header and rows, every row as wide as the header, with the place of each cell
// for messages. For files that profilers write.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace l2lens::gpu {

class CsvTable {
public:
    struct Row {
        int line = 0;  // in the file, from 1
        std::vector<std::string> cells;
    };

    // The table begins at the first line whose first cell is one of `first_columns`: profilers print messages
    // and the program's own output before it. Throws BadInput when there is none, for an open quote, and for
    // a row of another width.
    CsvTable(std::string name, std::string_view text, const std::vector<std::string>& first_columns);

    const std::vector<std::string>& header() const { return header_; }
    const std::vector<Row>& rows() const { return rows_; }

    // -1 when there is none.
    int find_column(std::string_view name) const;
    // Throws BadInput with the columns there are.
    int column(std::string_view name) const;

    const std::string& cell(const Row& row, int column) const {
        return row.cells[static_cast<std::size_t>(column)];
    }
    // "1,234.5" and "4.34e-02" are numbers; anything else throws BadInput.
    double number(const Row& row, int column) const;
    std::int64_t integer(const Row& row, int column) const;

    // "file.csv:12: column 'Metric Value': <what>".
    [[noreturn]] void fail(const Row& row, int column, const std::string& what) const;

private:
    std::string name_;
    std::vector<std::string> header_;
    std::vector<Row> rows_;
};

// The whole file. Throws BadInput when it cannot be read.
std::string read_text_file(const std::string& path);

}  // namespace l2lens::gpu
