// SPDX-License-Identifier: Apache-2.0
#include "gpu/counters/csv_table.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <sstream>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace l2lens::gpu {
namespace {

// Splits a text into records; quoted cells may hold commas, doubled quotes and line ends.
class CsvScanner {
public:
    CsvScanner(const std::string& name, std::string_view text) : name_(name), text_(text) {}

    bool next(CsvTable::Row& row) {
        if (at_ >= text_.size()) return false;
        row.line = line_;
        row.cells.clear();
        while (true) {
            row.cells.push_back(cell());
            if (at_ >= text_.size() || text_[at_] != ',') break;
            ++at_;
        }
        end_of_record();
        return true;
    }

    // For lines outside the table, where a quote means nothing.
    void skip_line() {
        const auto end = text_.find('\n', at_);
        at_ = end == std::string_view::npos ? text_.size() : end + 1;
        ++line_;
    }
    std::string_view rest() const { return text_.substr(at_); }
    bool done() const { return at_ >= text_.size(); }

private:
    std::string cell() {
        if (at_ < text_.size() && text_[at_] == '"') return quoted_cell();
        const auto end = std::min(text_.find_first_of(",\r\n", at_), text_.size());
        const auto start = at_;
        at_ = end;
        return std::string(text_.substr(start, end - start));
    }

    std::string quoted_cell() {
        const int opened = line_;
        std::string value;
        for (++at_; at_ < text_.size(); ++at_) {
            if (text_[at_] == '\n') ++line_;
            if (text_[at_] != '"') {
                value += text_[at_];
            } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
                value += '"';
                ++at_;
            } else {
                ++at_;
                return value;
            }
        }
        throw BadInput(name_ + ":" + std::to_string(opened) + ": a quote is never closed");
    }

    void end_of_record() {
        if (at_ < text_.size() && text_[at_] == '\r') ++at_;
        if (at_ < text_.size() && text_[at_] != '\n')
            throw BadInput(name_ + ":" + std::to_string(line_) + ": text after a closing quote");
        ++at_;
        ++line_;
    }

    const std::string& name_;
    std::string_view text_;
    std::size_t at_ = 0;
    int line_ = 1;
};

bool starts_table(std::string_view line, const std::vector<std::string>& first_columns) {
    return std::any_of(first_columns.begin(), first_columns.end(), [&](const std::string& name) {
        return line.starts_with('"' + name + "\",") || line.starts_with(name + ",");
    });
}

std::string without_commas(const std::string& text) {
    std::string digits;
    std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != ','; });
    return digits;
}

}  // namespace

CsvTable::CsvTable(std::string name, std::string_view text, const std::vector<std::string>& first_columns)
    : name_(std::move(name)) {
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    CsvScanner scanner(name_, text);
    while (!scanner.done() && !starts_table(scanner.rest(), first_columns)) scanner.skip_line();
    Row row;
    if (!scanner.next(row))
        throw BadInput(name_ + ": no table found: no line begins with the column '" + first_columns.front() +
                       "'");
    header_ = row.cells;
    while (scanner.next(row)) {
        const bool blank = row.cells.size() == 1 && row.cells[0].empty();
        const bool message = row.cells[0].starts_with("==");  // "==PROF== Disconnected from process 12"
        if (blank || message) continue;
        if (row.cells.size() != header_.size())
            throw BadInput(name_ + ":" + std::to_string(row.line) + ": " + std::to_string(row.cells.size()) +
                           " cells under a header of " + std::to_string(header_.size()));
        rows_.push_back(row);
    }
}

int CsvTable::find_column(std::string_view name) const {
    const auto found = std::find(header_.begin(), header_.end(), name);
    return found == header_.end() ? -1 : static_cast<int>(found - header_.begin());
}

int CsvTable::column(std::string_view name) const {
    const int found = find_column(name);
    if (found < 0)
        throw BadInput(name_ + ": no column '" + std::string(name) + "'" + suggestion(name, header_));
    return found;
}

double CsvTable::number(const Row& row, int column) const {
    const std::string digits = without_commas(cell(row, column));
    double value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || stop != digits.data() + digits.size() ||
        !std::isfinite(value))
        fail(row, column, "'" + cell(row, column) + "' is not a number");
    return value;
}

std::int64_t CsvTable::integer(const Row& row, int column) const {
    const std::string digits = without_commas(cell(row, column));
    std::int64_t value = 0;
    const auto [stop, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || error != std::errc() || stop != digits.data() + digits.size())
        fail(row, column, "'" + cell(row, column) + "' is not a whole number");
    return value;
}

void CsvTable::fail(const Row& row, int column, const std::string& what) const {
    throw BadInput(name_ + ":" + std::to_string(row.line) + ": column '" +
                   header_[static_cast<std::size_t>(column)] + "': " + what);
}

std::string read_text_file(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    std::ostringstream text;
    if (in) text << in.rdbuf();
    if (!in) throw BadInput("cannot read " + path);
    return text.str();
}

}  // namespace l2lens::gpu
