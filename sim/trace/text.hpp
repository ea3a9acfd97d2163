// SPDX-License-Identifier: Apache-2.0
// The text form of a trace, so that any program can feed the L2 model: one request a line,
//
//   TIME_NS SM R|W|A ADDRESS BYTES [PATH [RECEIVERS [HINT]]]      12.345 17 R 0x7f4a00000080 128 tma
//
// with '#' comments. TIME_NS is the arrival at the L2, with up to three decimals that count; A is a write
// that is added to what is there, in the L2; ADDRESS is decimal or 0x...; PATH is tma, cp.async or ld (the
// default: a plain load that missed the L1); HINT is evict_first, evict_last or no_allocate. Lines may come
// in any order of time. Three directives make a converted trace replay exactly as the binary one:
// `header {JSON}` (first), `window NS` (requests after it are handed in at that time) and `end {JSON}`
// (last). What has a header was written as a whole, so without its end it is cut.
#pragma once

#include <iosfwd>
#include <string>

#include "trace/reader.hpp"

namespace l2lens {

// Reads all of it. Addresses beyond 512 GiB, as virtual ones are, move page by page (2 MiB) to the lowest
// pages, in their order. Throws BadInput, "FILE:LINE:COLUMN: what", for the first line that does not parse.
class TextTraceReader final : public TraceReader {
public:
    TextTraceReader(std::istream& in, std::string name);

    bool next(RecordBatch& batch) override;
    std::string where(std::size_t i) const override;

private:
    class Parser;

    void add(LineRecord record, std::uint64_t address, std::uint64_t bytes, std::uint32_t line);
    // An end that says another number of records is refused, one that is missing means a cut.
    void check_end(std::uint32_t lines, bool inside_line);
    // Without windows, each request is handed in just before it arrives.
    void order_by_time();
    void relocate();

    std::string name_;
    bool headed_ = false;
    bool windows_ = false;
    Picoseconds window_now_ = 0;
    std::uint64_t requests_ = 0;  // as written; those of several lines are several records
    std::uint32_t end_line_ = 0;
    bool given_ = false;
    std::vector<LineRecord> records_;
    std::vector<std::uint32_t> lines_;  // of the file
};

class TextTraceWriter {
public:
    TextTraceWriter(std::ostream& out, const TraceHeader& header);

    void add(const LineRecord& record);
    void finish(const TraceEnd& end);

private:
    std::ostream& out_;
    Picoseconds window_ = -1;
};

// "12.345 17 R 0x80 128 tma"
std::string text_of(const LineRecord& record);
// "R", "W" or "A"
const char* operation_name(Operation operation, bool reduce);
const char* hint_name(CacheHint hint);  // "" for none
// Picoseconds as nanoseconds: "12.345", "12"
std::string ns_text(Picoseconds time);
const char* path_name(Path path);
const char* path_name(const LineRecord& record);

}  // namespace l2lens
