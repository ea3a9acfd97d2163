// SPDX-License-Identifier: Apache-2.0
#include "trace/text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <istream>
#include <numeric>
#include <ostream>
#include <string_view>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/make_set.hpp"
#include "memory/event_wheel.hpp"

namespace l2lens {
namespace {

constexpr int kPageShift = 21;
constexpr std::uint64_t kMostBytes = 1 << 16;  // of one request
constexpr std::size_t kLongestLine = 4096;     // of a request
constexpr std::array<const char*, 3> kPaths{"tma", "cp.async", "ld"};
constexpr std::array<const char*, 4> kHints{"", "evict_first", "evict_last", "no_allocate"};
constexpr const char* kShifted = "tma.shifted";  // of a row that begins inside a sector

bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r';
}

enum class LineRead { None, Whole, WithoutEnd, TooLong };

// Reads a line of at most kLargestTraceHeader bytes; none at the end of the file.
LineRead read_line(std::istream& in, std::string& line) {
    line.clear();
    std::streambuf& buffer = *in.rdbuf();
    for (int c = buffer.sbumpc(); c != std::char_traits<char>::eof(); c = buffer.sbumpc()) {
        if (c == '\n') return LineRead::Whole;
        if (line.size() == kLargestTraceHeader) return LineRead::TooLong;
        line.push_back(static_cast<char>(c));
    }
    return line.empty() ? LineRead::None : LineRead::WithoutEnd;
}

// May a last line without a line end have been longer? Only the end in full tells that it was not.
bool may_be_cut(std::string_view line) {
    return !line.starts_with("end") || !line.ends_with('}');
}

}  // namespace

// One line at a time; knows the column of the word it is at.
class TextTraceReader::Parser {
public:
    Parser(TextTraceReader& reader, std::uint32_t number, std::string_view line)
        : reader_(reader), number_(number), line_(line) {}

    void parse() {
        const std::string_view first = word();
        if (first.empty()) return;
        if (reader_.end_) fail("nothing may stand after the end");
        if (first == "header") return parse_header();
        if (first == "window") return parse_window();
        if (first == "end") return parse_end();
        parse_request(first);
    }

    [[noreturn]] void fail(const std::string& problem) const { fail_at(at_, problem); }

private:
    [[noreturn]] void fail_at(std::size_t at, const std::string& problem) const {
        throw BadInput(fmt::format("{}:{}:{}: {}", reader_.name_, number_, at + 1, problem));
    }

    // The next word, "" at the end of the line or at a comment; `at_` is where it begins.
    std::string_view word() {
        at_ = next_;
        while (at_ < line_.size() && is_blank(line_[at_])) ++at_;
        next_ = at_;
        if (at_ == line_.size() || line_[at_] == '#') return {};
        while (next_ < line_.size() && !is_blank(line_[next_])) ++next_;
        return line_.substr(at_, next_ - at_);
    }

    // What a user typed, cut short and without control characters.
    static std::string shown(std::string_view text) {
        std::string shown(text.substr(0, 40));
        for (char& c : shown) {
            if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) >= 0x7f) c = '?';
        }
        return shown + (text.size() > 40 ? "..." : "");
    }

    std::uint64_t whole(std::string_view text, int base, const char* what) const {
        std::uint64_t value = 0;
        const char* end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value, base);
        if (text.empty() || error != std::errc{} || stop != end)
            fail(fmt::format("{} '{}' is no number", what, shown(text)));
        return value;
    }

    // Nanoseconds with an optional fraction, exactly; digits beyond picoseconds must be there but do not
    // count.
    Picoseconds time(std::string_view text) const {
        const std::size_t dot = text.find('.');
        const std::string_view fraction = dot == std::string_view::npos ? "" : text.substr(dot + 1);
        if (dot != std::string_view::npos &&
            (fraction.empty() || fraction.find_first_not_of("0123456789") != std::string_view::npos))
            fail(fmt::format("time '{}' is no number of nanoseconds", shown(text)));
        const std::uint64_t ns = whole(text.substr(0, dot), 10, "time");
        if (ns >= static_cast<std::uint64_t>(kTraceTimeEnd / kPsPerNs))
            fail(fmt::format("time {} ns is not in the first 10 s; count from the first request", ns));
        Picoseconds ps = static_cast<Picoseconds>(ns);
        for (std::size_t i = 0; i < 3; ++i) ps = ps * 10 + (i < fraction.size() ? fraction[i] - '0' : 0);
        return ps;
    }

    void parse_header() {
        if (number_ != 1) fail("a header must be the first line");
        reader_.header_ = parse_header_json(line_.substr(next_), fmt::format("{}:1", reader_.name_));
        if (reader_.header_.kind != RecordKind::Line) fail("a text trace holds lines, not boxes");
        reader_.headed_ = true;
    }

    void parse_window() {
        const std::string_view text = word();
        const Picoseconds end = time(text);
        const bool first = reader_.records_.empty();
        if (!first && !reader_.windows_) fail("windows must begin before the first request");
        if (reader_.windows_ && end < reader_.window_now_) fail("windows must not go back in time");
        reader_.windows_ = true;
        reader_.window_now_ = end;
        expect_end();
    }

    void parse_end() {
        reader_.end_ = parse_end_json(line_.substr(next_), fmt::format("{}:{}", reader_.name_, number_));
        reader_.end_line_ = number_;
    }

    void parse_request(std::string_view first) {
        if (line_.size() > kLongestLine)
            fail(fmt::format("a request of more than {} characters", kLongestLine));
        LineRecord record;
        record.time = time(first);
        const std::uint64_t sm = whole(word(), 10, "SM");
        if (sm > UINT16_MAX) fail(fmt::format("SM {} is more than a GPU has", sm));
        record.sm = static_cast<std::uint16_t>(sm);
        read_operation(word(), record);
        const std::string_view text = word();
        const bool hexadecimal = text.starts_with("0x") || text.starts_with("0X");
        const std::size_t address_at = at_;
        const std::uint64_t address =
            whole(text.substr(hexadecimal ? 2 : 0), hexadecimal ? 16 : 10, "address");
        const std::uint64_t bytes = whole(word(), 10, "bytes");
        if (bytes == 0 || bytes > kMostBytes)
            fail(fmt::format("{} bytes; a request has 1 to {}", bytes, kMostBytes));
        if (address + (bytes - 1) < address) fail_at(address_at, "the request reaches beyond 64 bits");
        const std::string_view way = word();
        record.shifted = way == kShifted;
        record.path = record.shifted ? Path::Tma : path(way);
        record.receivers = receivers(word());
        record.hint = hint(word());
        expect_end();
        reader_.add(record, address, bytes, number_);
    }

    void read_operation(std::string_view text, LineRecord& record) const {
        if (text != "R" && text != "W" && text != "A")
            fail(fmt::format("'{}' is none of R, W, A", shown(text)));
        record.operation = text == "R" ? Operation::Read : Operation::Write;
        record.reduce = text == "A";
    }

    Path path(std::string_view text) const {
        if (text.empty()) return Path::Load;
        for (std::size_t i = 0; i < kPaths.size(); ++i) {
            if (text == kPaths[i]) return static_cast<Path>(i);
        }
        fail(fmt::format("path '{}' is none of tma, tma.shifted, cp.async, ld", shown(text)));
    }

    std::uint8_t receivers(std::string_view text) const {
        if (text.empty()) return 1;
        const std::uint64_t count = whole(text, 10, "receivers");
        if (count == 0 || count > UINT8_MAX) fail(fmt::format("{} receivers; there are 1 to 255", count));
        return static_cast<std::uint8_t>(count);
    }

    CacheHint hint(std::string_view text) const {
        for (std::size_t i = 0; i < kHints.size(); ++i) {
            if (text == kHints[i]) return static_cast<CacheHint>(i);
        }
        fail(fmt::format("hint '{}' is none of evict_first, evict_last, no_allocate", shown(text)));
    }

    void expect_end() {
        if (const std::string_view rest = word(); !rest.empty())
            fail(fmt::format("'{}' is one word too many", shown(rest)));
    }

    TextTraceReader& reader_;
    std::uint32_t number_;
    std::string_view line_;
    std::size_t at_ = 0;
    std::size_t next_ = 0;
};

TextTraceReader::TextTraceReader(std::istream& in, std::string name) : name_(std::move(name)) {
    std::string line;
    std::uint32_t number = 0;
    bool inside_line = false;
    for (LineRead read = read_line(in, line); read != LineRead::None; read = read_line(in, line)) {
        Parser parser(*this, ++number, line);
        if (read == LineRead::TooLong) parser.fail("the line has no end");
        inside_line = headed_ && !end_ && read == LineRead::WithoutEnd && may_be_cut(line);
        if (!inside_line) parser.parse();
    }
    if (in.bad()) throw BadInput(name_ + ": cannot be read");
    check_end(number, inside_line);
    relocate();
    if (!windows_) order_by_time();
}

void TextTraceReader::check_end(std::uint32_t lines, bool inside_line) {
    if (!end_) {
        if (!headed_) return;  // written by a program that knows no directives
        warning_ =
            fmt::format("{}: the trace is cut: it ends {} line {}, after {} records", name_,
                        inside_line ? "inside" : "before", inside_line ? lines : lines + 1, records_.size());
        return;
    }
    if (end_->records != records_.size() && end_->records != requests_)
        throw BadInput(fmt::format("{}:{}: the end says {} records; there are {}", name_, end_line_,
                                   end_->records, records_.size()));
    if (!end_->complete) {
        warning_ = fmt::format("{}: the recording was stopped at its largest size, after {} records", name_,
                               records_.size());
    }
}

// A request of several lines becomes one record a line.
void TextTraceReader::add(LineRecord record, std::uint64_t address, std::uint64_t bytes, std::uint32_t line) {
    record.window = window_now_;
    ++requests_;
    while (bytes > 0) {
        const std::uint64_t in_line = std::min<std::uint64_t>(bytes, kLineBytes - address % kLineBytes);
        record.bytes = static_cast<std::uint8_t>(in_line);
        record.address = address;
        records_.push_back(record);
        lines_.push_back(line);
        address += in_line;
        bytes -= in_line;
    }
}

void TextTraceReader::relocate() {
    const auto low = [](const LineRecord& record) { return record.address < kTraceAddressEnd; };
    if (std::all_of(records_.begin(), records_.end(), low)) return;
    std::vector<std::uint64_t> pages;
    pages.reserve(records_.size());
    for (const LineRecord& record : records_) pages.push_back(record.address >> kPageShift);
    make_set(pages);
    if (pages.size() > kTraceAddressEnd >> kPageShift)
        throw BadInput(
            fmt::format("{}: its requests touch {} pages of 2 MiB, more than 512 GiB", name_, pages.size()));
    for (LineRecord& record : records_) {
        const auto page = std::lower_bound(pages.begin(), pages.end(), record.address >> kPageShift);
        record.address = static_cast<std::uint64_t>(page - pages.begin()) << kPageShift |
                         (record.address & ((std::uint64_t{1} << kPageShift) - 1));
    }
}

void TextTraceReader::order_by_time() {
    for (LineRecord& record : records_) record.window = record.time >> kBucketShift << kBucketShift;
    std::vector<std::size_t> order(records_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return records_[a].window < records_[b].window; });
    std::vector<LineRecord> records;
    std::vector<std::uint32_t> lines;
    for (const std::size_t i : order) {
        records.push_back(records_[i]);
        lines.push_back(lines_[i]);
    }
    records_ = std::move(records);
    lines_ = std::move(lines);
}

bool TextTraceReader::next(RecordBatch& batch) {
    batch = {};
    if (given_) return false;
    given_ = true;
    batch.lines = std::move(records_);
    return !batch.lines.empty();
}

std::string TextTraceReader::where(std::size_t i) const {
    return fmt::format("{}:{}", name_, lines_[i]);
}

TextTraceWriter::TextTraceWriter(std::ostream& out, const TraceHeader& header) : out_(out) {
    TraceHeader lines = header;
    lines.kind = RecordKind::Line;
    out_ << "header " << header_json(lines) << '\n';
}

void TextTraceWriter::add(const LineRecord& record) {
    if (record.window != window_) out_ << "window " << ns_text(record.window) << '\n';
    window_ = record.window;
    out_ << text_of(record) << '\n';
}

void TextTraceWriter::finish(const TraceEnd& end) {
    out_ << "end " << end_json(end) << '\n';
}

std::string text_of(const LineRecord& record) {
    std::string text = fmt::format("{} {} {} {:#x} {} {}", ns_text(record.time), record.sm,
                                   operation_name(record.operation, record.reduce), record.address,
                                   record.bytes, path_name(record));
    const bool hinted = record.hint != CacheHint::None;
    if (record.receivers != 1 || hinted) text += fmt::format(" {}", record.receivers);
    if (hinted) text += fmt::format(" {}", hint_name(record.hint));
    return text;
}

const char* operation_name(Operation operation, bool reduce) {
    if (operation == Operation::Read) return "R";
    return reduce ? "A" : "W";
}

const char* hint_name(CacheHint hint) {
    return kHints[static_cast<std::size_t>(hint)];
}

std::string ns_text(Picoseconds time) {
    std::string text = fmt::format("{}.{:03}", time / kPsPerNs, time % kPsPerNs);
    while (text.back() == '0') text.pop_back();
    if (text.back() == '.') text.pop_back();
    return text;
}

const char* path_name(Path path) {
    return kPaths[static_cast<std::size_t>(path)];
}

const char* path_name(const LineRecord& record) {
    return record.shifted ? kShifted : path_name(record.path);
}

}  // namespace l2lens
