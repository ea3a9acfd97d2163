// SPDX-License-Identifier: Apache-2.0
// CSV as RFC 4180 has it: quoted fields, doubled quotes, LF or CRLF. Reading is strict.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace l2lens {

// The field, quoted when it has to be.
std::string csv_field(std::string_view text);

// One line with its newline.
std::string csv_line(const std::vector<std::string>& fields);

struct CsvRow {
    std::size_t line = 0;  // of the file, where the row begins
    std::vector<std::string> fields;
};

// The header and the rows below it, each with as many fields as the header.
struct CsvTable {
    std::vector<std::string> columns;
    std::vector<CsvRow> rows;
};

// Throws BadInput, "NAME:LINE: what", for an empty file, a row with too few or too many fields, a quote out
// of place or never closed, a column without a name or named twice.
CsvTable read_csv(std::string_view text, const std::string& name);

}  // namespace l2lens
