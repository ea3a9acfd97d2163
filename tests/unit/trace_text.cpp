// SPDX-License-Identifier: Apache-2.0
// The text form of traces: what any program may write, and what is said about what it must not.
#include <algorithm>

#include "support/catch.hpp"
#include "support/complaint.hpp"
#include "trace/text.hpp"

#include "trace_support.hpp"

using namespace l2lens;
using namespace l2lens::test;

namespace {

std::vector<LineRecord> parse(const std::string& text) {
    const auto reader = reader_of(text, "t.txt");
    return lines_of(*reader);
}

std::string complaint_about(const std::string& text) {
    return test::complaint_of([&] { parse(text); });
}

}  // namespace

TEST_CASE("A request is a line") {
    const auto records = parse(
        "# a comment\n"
        "\n"
        "12.345 17 R 0x1000 128 tma\r\n"
        "\t0.5  3 W 160 16   # half a sector\n"
        "20 1 A 128 32\n"  // added to what is there
        "30 1 W 0 32 tma 1 evict_first\n"
        "7 0 R 0X20 32 cp.async 2");  // the last line needs no end
    REQUIRE(records.size() == 5);
    // In order of time, windows being the half nanoseconds of the model's calendar.
    CHECK(records[0] == LineRecord{0, 500, 160, 3, 16, 1, Operation::Write, Path::Load});
    CHECK(records[1] == LineRecord{7000 / 512 * 512, 7000, 32, 0, 32, 2, Operation::Read, Path::CpAsync});
    CHECK(records[2] == LineRecord{12345 / 512 * 512, 12345, 0x1000, 17, 128, 1, Operation::Read, Path::Tma});
    CHECK(records[3] ==
          LineRecord{20000 / 512 * 512, 20000, 128, 1, 32, 1, Operation::Write, Path::Load, false, true});
    CHECK(records[4] == LineRecord{30000 / 512 * 512, 30000, 0, 1, 32, 1, Operation::Write, Path::Tma, false,
                                   false, CacheHint::EvictFirst});
}

TEST_CASE("A request of many lines is one record a line") {
    const auto records = parse("1 0 R 100 300\n");
    REQUIRE(records.size() == 4);  // 100..127, 128..255, 256..383, 384..399
    const std::vector<std::pair<std::uint64_t, int>> expected{{100, 28}, {128, 128}, {256, 128}, {384, 16}};
    for (std::size_t i = 0; i < 4; ++i) {
        CHECK(records[i].address == expected[i].first);
        CHECK(records[i].bytes == expected[i].second);
    }
}

TEST_CASE("Picoseconds are exact, finer digits do not count") {
    CHECK(parse("0.0019 0 R 0 1")[0].time == 1);
    CHECK(parse("9999999999.999 0 R 0 1")[0].time == 9'999'999'999'999);
    for (const Picoseconds time : {0, 1, 10, 999, 1000, 123'450}) {
        CHECK(parse(ns_text(time) + " 0 R 0 1")[0].time == time);
    }
    CHECK(ns_text(123'450) == "123.45");
}

TEST_CASE("Requests of one moment keep their order") {
    const auto records = parse("5 0 R 0 32\n1 1 R 0 32\n5 2 R 0 32\n5 3 R 0 32\n");
    std::vector<int> sms;
    for (const LineRecord& record : records) sms.push_back(record.sm);
    CHECK(sms == std::vector<int>{1, 0, 2, 3});
}

TEST_CASE("Virtual addresses move page by page to the lowest pages") {
    const auto records = parse(
        "0 0 R 0x7f4a00200080 32\n"   // the higher page
        "1 0 R 0x7f4a000fffc0 128\n"  // two lines
        "2 0 R 0x7f4a003fffff 1\n"    // the higher page again
        "3 0 R 0xffffffffffffffff 1\n");
    REQUIRE(records.size() == 5);
    constexpr std::uint64_t kPage = 1 << 21;
    CHECK(records[0].address == kPage + 0x80);
    CHECK(records[1].address == 0x0fffc0);
    CHECK(records[2].address == 0x100000);
    CHECK(records[3].address == kPage + 0x1fffff);
    CHECK(records[4].address == 2 * kPage + 0x1fffff);
    // Addresses that a GPU has stay.
    CHECK(parse("0 0 R 0x7fffffff80 32")[0].address == 0x7fffffff80);
}

TEST_CASE("What is no request is named by line and column") {
    struct Case {
        const char* text;
        const char* where;
        const char* complaint;
    };
    const std::vector<Case> cases{
        {"x 0 R 0 32", "t.txt:1:1:", "time 'x' is no number"},
        {"-1 0 R 0 32", "t.txt:1:1:", "time"},
        {"1. 0 R 0 32", "t.txt:1:1:", "nanoseconds"},
        {"1.2.3 0 R 0 32", "t.txt:1:1:", "nanoseconds"},
        {"1e3 0 R 0 32", "t.txt:1:1:", "time"},
        {"10000000000 0 R 0 32", "t.txt:1:1:", "first 10 s"},
        {"99999999999999999999 0 R 0 32", "t.txt:1:1:", "time"},
        {"# fine\n1 0 R 0 32\n2 sm R 0 32", "t.txt:3:3:", "SM 'sm' is no number"},
        {"1 65536 R 0 32", "t.txt:1:3:", "SM 65536"},
        {"1 0 r 0 32", "t.txt:1:5:", "'r' is none of R, W, A"},
        {"1 0", "t.txt:1:4:", "none of R, W, A"},
        {"1  0   R   zero 32", "t.txt:1:12:", "address 'zero'"},
        {"1 0 R 0x 32", "t.txt:1:7:", "address"},
        {"1 0 R 0x1ffffffffffffffff 32", "t.txt:1:7:", "address"},
        {"1 0 R 0xffffffffffffffff 2", "t.txt:1:7:", "beyond 64 bits"},
        {"1 0 R 0", "t.txt:1:8:", "bytes"},
        {"1 0 R 0 0", "t.txt:1:9:", "0 bytes"},
        {"1 0 R 0 65537", "t.txt:1:9:", "65537 bytes"},
        {"1 0 R 0 32 dma", "t.txt:1:12:", "path 'dma' is none of tma, tma.shifted, cp.async, ld"},
        {"1 0 R 0 32 tma 0", "t.txt:1:16:", "0 receivers"},
        {"1 0 R 0 32 tma 1 more", "t.txt:1:18:", "hint 'more' is none of evict_first, evict_last, no_allo"},
        {"1 0 R 0 32 tma 1 evict_last more", "t.txt:1:29:", "'more' is one word too many"},
        {"1 0 R 0 32\nheader {}", "t.txt:2:1:", "first line"},
        {"header {}", "t.txt:1:", "'schema' is missing"},
        {"header {", "t.txt:1:", "no JSON"},
        {"1 0 R 0 32\nwindow 5", "t.txt:2:8:", "before the first request"},
        {"window 5\n1 0 R 0 32\nwindow 4.999", "t.txt:3:8:", "back in time"},
        {"end {\"complete\":true,\"records\":0,\"sectors\":0}\n1 0 R 0 32", "t.txt:2:1:", "after the end"},
        {"end {\"complete\":true,\"records\":0,\"sectors\":0}\nwindow 4", "t.txt:2:1:", "after the end"},
        {"1 0 R 0 32\nend {\"complete\":true,\"records\":2,\"sectors\":0}",
         "t.txt:2:", "the end says 2 records; there are 1"},
        {"end {\"complete\":1,\"records\":0,\"sectors\":0}", "t.txt:1:", "'complete'"},
    };
    for (const Case& c : cases) {
        INFO(c.text);
        const std::string complaint = complaint_about(c.text);
        CHECK(complaint.starts_with(c.where));
        CHECK_THAT(complaint, ContainsSubstring(c.complaint));
        CHECK(complaint.find('\n') == std::string::npos);
    }
    CHECK_THAT(complaint_about("1 0 R \x01\x7f 32"), ContainsSubstring("address '?"
                                                                       "?'"));
    CHECK_THAT(complaint_about("1 0 R " + std::string(5000, '0') + " 32"),
               ContainsSubstring("4096 characters"));
}

TEST_CASE("Text holds all that requests hold") {
    std::ostringstream out;
    TraceHeader header;
    header.gpu = "tiny";
    header.lanes = 1;
    header.lanes_of = 4;
    header.seed = 9;
    const std::vector<LineRecord> lines{
        {1000, 5000, 0x80, 1, 128, 1, Operation::Read, Path::Tma},
        {1000, 4999, 0x1ff, 0, 1, 2, Operation::Read, Path::CpAsync},  // order of submission, not of time
        {2048, 2048, 0x100, 3, 16, 1, Operation::Write, Path::Load},
        {2048, 2048, 0x110, 3, 16, 1, Operation::Write, Path::Tma, true, true},
        {2048, 2049, 0x200, 3, 32, 1, Operation::Read, Path::Load, false, false, CacheHint::NoAllocate},
        {2048, 2050, 0x300, 3, 32, 2, Operation::Read, Path::Tma, false, false, CacheHint::EvictLast},
    };
    TextTraceWriter writer(out, header);
    for (const LineRecord& line : lines) writer.add(line);
    writer.finish({false, 6, 77});
    const auto reader = reader_of(out.str(), "t.txt");
    CHECK(header_json(reader->header()) == header_json(header));
    CHECK(lines_of(*reader) == lines);
    REQUIRE(reader->end());
    CHECK(reader->end()->sectors == 77);
    CHECK_THAT(reader->warning(), ContainsSubstring("largest size"));
}

TEST_CASE("A text with a header is cut when its end is missing, at whatever byte") {
    std::ostringstream out;
    TraceHeader header;
    header.gpu = "tiny";
    const std::vector<LineRecord> lines{
        {1024, 5000, 0x80, 1, 128, 1, Operation::Read, Path::Tma},
        {2048, 6000, 0x100, 0, 32, 1, Operation::Read, Path::Load},
    };
    TextTraceWriter writer(out, header);
    for (const LineRecord& line : lines) writer.add(line);
    writer.finish({true, 2, 5});
    const std::string text = out.str();
    const std::size_t after_header = text.find('\n') + 1;
    for (std::size_t cut = after_header; cut < text.size() - 1; ++cut) {
        INFO("cut at byte " << cut);
        const auto reader = reader_of(text.substr(0, cut), "t.txt");
        const bool line_end = text[cut - 1] == '\n';
        CHECK_THAT(reader->warning(), ContainsSubstring(line_end ? "the trace is cut: it ends before line"
                                                                 : "the trace is cut: it ends inside line"));
        // Only lines that are whole count.
        const std::string whole = text.substr(0, text.rfind('\n', cut - 1) + 1);
        const auto requests = static_cast<std::size_t>(std::ranges::count(whole, 'R'));
        const auto read = lines_of(*reader);
        CHECK(read == std::vector<LineRecord>(lines.begin(), lines.begin() + std::ssize(read)));
        CHECK(read.size() == requests);
    }
    // Its line end may be missing, its number of records may not be another.
    CHECK(reader_of(text.substr(0, text.size() - 1), "t.txt")->warning().empty());
    const std::size_t second = text.find("\n6 ") + 1;
    const std::string without = text.substr(0, second) + text.substr(text.find('\n', second) + 1);
    CHECK_THAT(complaint_about(without), ContainsSubstring("the end says 2 records; there are 1"));
    // Programs without a header need no end; with one, a request of three lines is one record or three.
    CHECK(reader_of("1 0 R 0 32", "t.txt")->warning().empty());
    for (const char* records : {"1", "3"})
        CHECK(complaint_about(std::string("1 0 R 0 384\nend {\"complete\":true,\"records\":") + records +
                              ",\"sectors\":12}")
                  .empty());
}
