// SPDX-License-Identifier: Apache-2.0
#include "import/access_csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <istream>
#include <limits>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include "base/error.hpp"

namespace l2lens {
namespace {

enum Column { Cta, Warp, Instruction, Op, Address, Bytes, PathName, Columns };
constexpr std::array<const char*, Columns> kNames{"cta",     "warp",  "instruction", "op",
                                                  "address", "bytes", "path"};
constexpr std::uint32_t kMostBytes = 1 << 16;               // of one row
constexpr std::uint32_t kLastInstruction = UINT32_MAX - 1;  // of a warp: their count must fit, too

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
            const auto cells = cells_of(std::string_view(text).substr(0, text.find_last_not_of('\r') + 1));
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

    static std::string_view without_blanks(std::string_view cell) {
        while (!cell.empty() && cell.front() == ' ') cell.remove_prefix(1);
        while (!cell.empty() && cell.back() == ' ') cell.remove_suffix(1);
        return cell;
    }

    // Quotes around a cell are no part of it, and commas between them none of the row; nothing that may stand
    // in a cell has a quote of its own.
    std::vector<std::string_view> cells_of(std::string_view line) const {
        std::vector<std::string_view> cells;
        while (true) {
            const std::size_t first = line.find_first_not_of(' ');
            std::size_t comma = line.find(',');
            if (first != std::string_view::npos && line[first] == '"') {
                const std::size_t close = line.find('"', first + 1);
                if (close == std::string_view::npos) fail("a quoted cell is never closed");
                comma = line.find(',', close);
                if (!without_blanks(line.substr(close + 1, comma - close - 1)).empty())
                    fail("something stands between a quoted cell and the next comma");
                cells.push_back(line.substr(first + 1, close - first - 1));
            } else {
                cells.push_back(without_blanks(line.substr(0, comma)));
            }
            if (comma == std::string_view::npos) return cells;
            line.remove_prefix(comma + 1);
        }
    }

    void read_header(const std::vector<std::string_view>& cells) {
        width_ = cells.size();
        for (std::size_t i = 0; i < cells.size(); ++i) {
            const auto known = std::find(kNames.begin(), kNames.end(), cells[i]);
            if (known == kNames.end())
                fail(fmt::format("unknown column '{}'; there are: cta warp instruction op address bytes path",
                                 cells[i].substr(0, 40)));
            int& place = place_[static_cast<std::size_t>(known - kNames.begin())];
            if (place >= 0) fail(fmt::format("column '{}' is there twice", *known));
            place = static_cast<int>(i);
        }
        for (std::size_t column = 0; column < PathName; ++column)
            if (place_[column] < 0) fail(fmt::format("column '{}' is missing", kNames[column]));
    }

    std::string_view cell(const std::vector<std::string_view>& cells, Column column) const {
        const int place = place_[column];
        return place < 0 ? std::string_view() : cells[static_cast<std::size_t>(place)];
    }

    template <class Number>
    Number number(const std::vector<std::string_view>& cells, Column column,
                  Number most = std::numeric_limits<Number>::max()) const {
        std::string_view text = cell(cells, column);
        const bool hexadecimal = text.starts_with("0x");
        if (hexadecimal) text.remove_prefix(2);
        Number value = 0;
        const auto [end, error] =
            std::from_chars(text.data(), text.data() + text.size(), value, hexadecimal ? 16 : 10);
        const std::string_view shown = cell(cells, column).substr(0, 40);
        if (text.empty() || error == std::errc::invalid_argument || end != text.data() + text.size())
            fail(fmt::format("{} '{}' is no number", kNames[column], shown));
        if (error != std::errc{} || value > most)
            fail(fmt::format("{} '{}' is out of range; at most {}", kNames[column], shown, most));
        return value;
    }

    void read_row(const std::vector<std::string_view>& cells) {
        if (cells.size() != width_) fail(fmt::format("{} cells; the header has {}", cells.size(), width_));
        WarpAccess row;
        row.cta = number<std::uint32_t>(cells, Cta);
        row.warp = number<std::uint32_t>(cells, Warp);
        row.instruction = number<std::uint32_t>(cells, Instruction, kLastInstruction);
        row.line = line_;
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
        const auto address = number<std::uint64_t>(cells, Address);
        if (address + (row.width - 1) < address)
            fail(fmt::format("the {} bytes at {:#x} reach beyond 64 bits", row.width, address));
        if (!joins(row)) flush();
        if (waiting_.lanes == 0) waiting_ = row;
        waiting_.address[static_cast<std::size_t>(waiting_.lanes++)] = address;
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
