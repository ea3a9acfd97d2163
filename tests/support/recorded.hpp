// SPDX-License-Identifier: Apache-2.0
// Rows of traces/GPU/*.csv: what hardware counted, read when the test runs.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "load/text_file.hpp"
#include "report/csv.hpp"

namespace l2lens::test {

using Cells = std::map<std::string, std::string>;

struct RecordedCells {
    Cells cells;

    const std::string& text(const std::string& column) const { return cells.at(column); }
    double operator[](const std::string& column) const { return std::stod(cells.at(column)); }
};

inline std::vector<RecordedCells> recorded_rows(const std::string& name, const std::string& gpu = "h200") {
    const std::string path = std::string(L2LENS_SOURCE_DIR) + "/traces/" + gpu + "/" + name;
    const CsvTable table = read_csv(read_text_file(path), path);
    std::vector<RecordedCells> rows;
    for (const CsvRow& row : table.rows) {
        RecordedCells& cells = rows.emplace_back();
        for (std::size_t i = 0; i < table.columns.size(); ++i) cells.cells[table.columns[i]] = row.fields[i];
    }
    return rows;
}

// The rows that have all the cells of `wanted`.
inline std::vector<RecordedCells> recorded_rows(const std::string& name, const Cells& wanted,
                                                const std::string& gpu = "h200") {
    std::vector<RecordedCells> rows;
    for (const RecordedCells& row : recorded_rows(name, gpu)) {
        bool fits = true;
        for (const auto& [column, value] : wanted) fits = fits && row.text(column) == value;
        if (fits) rows.push_back(row);
    }
    if (rows.empty()) throw std::runtime_error(name + " has no such row");
    return rows;
}

// Of a row the parameters that are named, as the program takes them: {"m=8192", ...}.
inline std::vector<std::string> arguments_of(const RecordedCells& row,
                                             const std::vector<std::string>& parameters) {
    std::vector<std::string> arguments;
    for (const std::string& name : parameters) arguments.push_back(name + "=" + row.text(name));
    return arguments;
}

}  // namespace l2lens::test
