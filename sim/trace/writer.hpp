// SPDX-License-Identifier: Apache-2.0
// Writes a trace, frame by frame.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <limits>
#include <span>

#include "trace/frames.hpp"
#include "trace/header.hpp"
#include "trace/record_code.hpp"
#include "trace/records.hpp"

namespace l2lens {

inline constexpr std::uint64_t kNoLimit = std::numeric_limits<std::uint64_t>::max();

class TraceWriter {
public:
    // The walks are those of a box trace's header. Throws BadInput when `most_bytes` cannot take even a trace
    // without records.
    TraceWriter(std::ostream& out, const TraceHeader& header, std::span<const TraceWalk> walks,
                std::uint64_t most_bytes = kNoLimit);

    // Of the header's kind. False when the trace has reached its largest size: the records of the last frame,
    // this one among them, are left out, and what is there stays readable.
    bool add(const BoxRecord& record) { return add_record(record); }
    bool add(const LineRecord& record) { return add_record(record); }

    // Ends the trace; `sectors` are those that the SMs asked for and wrote, over all lanes. A trace made from
    // one that is not complete is not, either.
    TraceEnd finish(std::uint64_t sectors, bool complete = true);

    std::uint64_t written() const { return frames_.written(); }

private:
    template <class Record>
    bool add_record(const Record& record);
    bool flush();
    void write_walks(const TraceHeader& header, std::span<const TraceWalk> walks);
    void write_frame(FrameType type, std::uint32_t count, const std::string& bytes);

    FrameWriter frames_;
    std::uint64_t most_bytes_;
    RecordEncoder encoder_;
    std::uint64_t records_ = 0;
    bool full_ = false;
};

}  // namespace l2lens
