// SPDX-License-Identifier: Apache-2.0
#include "import/access_csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <istream>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace l2lens {
namespace {

enum Column { Cta, Warp, Instruction, Op, Address, Bytes, PathName, Columns };
constexpr std::array<const char*, Columns> kNames{"cta",     "warp",  "instruction", "op",
                                                  "address", "bytes", "path"};
constexpr std::uint32_t kMostBytes = 1 << 16;  // of one row

std::vector<std::string_view> cells_of(std::string_view line) {
    std::vector<std::string_view> cells;
    while (true) {
        const std::size_t comma = line.find(',');
        std::string_view cell = line.substr(0, comma);
        while (!cell.empty() && cell.front() == ' ') cell.remove_prefix(1);
        while (!cell.empty() && (cell.back() == ' ' || cell.back() == '\r')) cell.remove_suffix(1);
        cells.push_back(cell);
        if (comma == std::string_view::npos) return cells;
        line.remove_prefix(comma + 1);
    }
}

class CsvReader {
public:
    CsvReader(std::istream& in, const std::string& name, const AccessVisitor& visit)
        : in_(in), name_(name), visit_(visit) {
        place_.fill(-1);
    }

    void read() {
        std::string text;
        while (std::getline(in_, text)) {
            ++line_;
            if (text.empty() || text == "\r" || text.front() == '#') continue;
            const auto cells = cells_of(text);
            if (width_ == 0) {
                read_header(cells);
            } else {
                read_row(cells);
            }
        }
        if (in_.bad()) throw BadInput(name_ + ": cannot be read");
        if (width_ == 0) fail("has no header; it begins with cta,warp,instruction,op,address,bytes");
        flush();
    }

private:
    [[noreturn]] void fail(const std::string& what) const {
        throw BadInput(fmt::format("{}:{}: {}", name_, std::max(line_, 1), what));
    }

    void read_header(const std::vector<std::string_view>& cells) {
        width_ = cells.size();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const auto known = std::find(kNames.begin(), kNames.end(), cells[i]);
            if (known == kNames.end())
                fail(fmt::format("unknown column '{}'; there are: cta warp instruction op address bytes path",
                                 cells[i].substr(0, 40)));
            place_[static_cast<std::size_t>(known - kNames.begin())] = static_cast<int>(i);
        }
        for (std::size_t column = 0; column < PathName; ++column)
            if (place_[column] < 0) fail(fmt::format("column '{}' is missing", kNames[column]));
    }

    std::string_view cell(const std::vector<std::string_view>& cells, Column column) const {
        const int place = place_[column];
        return place < 0 ? std::string_view() : cells[static_cast<std::size_t>(place)];
    }

    template <class Number>
    Number number(const std::vector<std::string_view>& cells, Column column) const {
        std::string_view text = cell(cells, column);
        const bool hexadecimal = text.starts_with("0x");
        if (hexadecimal) text.remove_prefix(2);
        Number value = 0;
        const auto [end, error] =
            std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
        if (text.empty() || error != std::errc{} || end != text.data() + text.size())
            fail(fmt::format("{} '{}' is no number", kNames[column], cell(cells, column).substr(0, 40)));
        return value;
    }

    void read_row(const std::vector<std::string_view>& cells) {
        if (cells.size() != width_) fail(fmt::format("{} cells; the header has {}", cells.size(), width_));
        WarpAccess row;
        row.cta = number<std::uint32_t>(cells, Cta);
        row.warp = number<std::uint32_t>(cells, Warp);
        row.instruction = number<std::uint32_t>(cells, Instruction);
        row.width = number<std::uint32_t>(cells, Bytes);
        if (row.width < 1 || row.width > kMostBytes)
            fail(fmt::format("{} bytes; 1 to {}", row.width, kMostBytes));
        const std::string_view op = cell(cells, Op), path = cell(cells, PathName);
        if (op != "R" && op != "W" && op != "A")
            fail(fmt::format("op '{}'; it is R, W or A", op.substr(0, 40)));
        if (!path.empty() && path != "ld" && path != "cp.async")
            fail(fmt::format("path '{}'; it is ld or cp.async", path.substr(0, 40)));
        row.operation = op == "R" ? Operation::Read : Operation::Write;
        row.adds = op == "A";
        row.path = path == "cp.async" ? Path::CpAsync : Path::Load;
        if (!joins(row)) flush();
        if (waiting_.lanes == 0) waiting_ = row;
        waiting_.address[static_cast<std::size_t>(waiting_.lanes++)] = number<std::uint64_t>(cells, Address);
    }

    // Another lane of the access that waits?
    bool joins(const WarpAccess& row) const {
        return waiting_.lanes > 0 && waiting_.lanes < kWarpLanes && waiting_.cta == row.cta &&
               waiting_.warp == row.warp && waiting_.instruction == row.instruction &&
               waiting_.operation == row.operation && waiting_.adds == row.adds &&
               waiting_.path == row.path && waiting_.width == row.width;
    }

    void flush() {
        if (waiting_.lanes > 0) visit_(waiting_);
        waiting_.lanes = 0;
    }

    std::istream& in_;
    const std::string& name_;
    const AccessVisitor& visit_;
    std::array<int, Columns> place_{};
    std::size_t width_ = 0;
    WarpAccess waiting_;
    int line_ = 0;
};

}  // namespace

ForeignLaunch read_access_csv(std::istream& in, const std::string& name, const AccessVisitor& visit) {
    CsvReader(in, name, visit).read();
    return {};
}

}  // namespace l2lens
