// SPDX-License-Identifier: Apache-2.0
#include "report/csv.hpp"

#include <set>

#include <fmt/format.h>

#include "base/error.hpp"

namespace l2lens {
namespace {

class Reader {
public:
    Reader(std::string_view text, const std::string& name) : text_(text), name_(name) {
        if (text_.substr(0, 3) == "\xEF\xBB\xBF")
            position_ = 3;  // the mark spreadsheets put in front of UTF-8
    }

    bool at_end() const { return position_ == text_.size(); }

    CsvRow row() {
        CsvRow row{line_, {}};
        do {
            row.fields.push_back(field());
        } while (take(','));
        end_of_line();
        return row;
    }

private:
    std::string field() {
        if (take('"')) return quoted_field();
        const std::size_t begin = position_;
        while (!at_end() && text_[position_] != ',' && text_[position_] != '\n' && text_[position_] != '\r') {
            if (text_[position_] == '"') fail(line_, "a quote inside a field that does not begin with one");
            ++position_;
        }
        return std::string(text_.substr(begin, position_ - begin));
    }

    std::string quoted_field() {
        const std::size_t begin_line = line_;
        std::string value;
        while (!at_end()) {
            const char c = text_[position_++];
            if (c == '\n') ++line_;
            if (c != '"') {
                value += c;
            } else if (take('"')) {
                value += '"';
            } else {
                return value;
            }
        }
        fail(begin_line, "a quoted field is never closed");
    }

    void end_of_line() {
        if (at_end()) return;
        take('\r');
        if (!take('\n'))
            fail(line_, "text after a closing quote; a comma or the end of the line belongs there");
        ++line_;
    }

    bool take(char c) {
        if (at_end() || text_[position_] != c) return false;
        ++position_;
        return true;
    }

    [[noreturn]] void fail(std::size_t line, const char* what) const {
        throw BadInput(fmt::format("{}:{}: {}", name_, line, what));
    }

    std::string_view text_;
    const std::string& name_;
    std::size_t position_ = 0;
    std::size_t line_ = 1;
};

void check_header(const std::vector<std::string>& columns, const std::string& name) {
    std::set<std::string_view> seen;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        if (columns[i].empty()) throw BadInput(fmt::format("{}:1: column {} has no name", name, i + 1));
        if (!seen.insert(columns[i]).second) {
            throw BadInput(fmt::format("{}:1: column '{}' is there twice", name, columns[i]));
        }
    }
}

}  // namespace

std::string csv_field(std::string_view text) {
    if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
    std::string quoted = "\"";
    for (const char c : text) {
        if (c == '"') quoted += '"';
        quoted += c;
    }
    return quoted + '"';
}

std::string csv_line(const std::vector<std::string>& fields) {
    std::string line;
    for (std::size_t i = 0; i < fields.size(); ++i) line += (i == 0 ? "" : ",") + csv_field(fields[i]);
    return line + "\n";
}

CsvTable read_csv(std::string_view text, const std::string& name) {
    Reader reader(text, name);
    if (reader.at_end()) throw BadInput(name + ": the file is empty; a header line belongs there");
    CsvTable table;
    table.columns = reader.row().fields;
    check_header(table.columns, name);
    while (!reader.at_end()) {
        CsvRow row = reader.row();
        if (row.fields.size() != table.columns.size()) {
            throw BadInput(
                fmt::format("{}:{}: {} fields, but the header names {} columns ({})", name, row.line,
                            row.fields.size(), table.columns.size(),
                            row.fields.size() < table.columns.size()
                                ? "'" + table.columns[row.fields.size()] + "' is the first one missing"
                                : "some value has a comma and no quotes?"));
        }
        table.rows.push_back(std::move(row));
    }
    return table;
}

}  // namespace l2lens
