// SPDX-License-Identifier: Apache-2.0
// A trace opened for reading, whatever its form: batches of records, and where each of them stands.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "trace/header.hpp"
#include "trace/records.hpp"

namespace l2lens {

class TraceReader {
public:
    virtual ~TraceReader() = default;

    const TraceHeader& header() const { return header_; }
    const std::vector<TraceWalk>& walks() const { return walks_; }

    // The next records; false when there are none left.
    virtual bool next(RecordBatch& batch) = 0;
    // Of record i of the last batch: "t.l2t: frame 3 at byte 4711, record 17", "t.txt:12".
    virtual std::string where(std::size_t i) const = 0;

    // After the last batch: what the trace says at its end, and a line for the user when it is not whole.
    const std::optional<TraceEnd>& end() const { return end_; }
    const std::string& warning() const { return warning_; }

protected:
    TraceHeader header_;
    std::vector<TraceWalk> walks_;
    std::optional<TraceEnd> end_;
    std::string warning_;
};

// Both throw BadInput for what is no trace, a corrupt one or one of another version. `name` begins messages.
std::unique_ptr<TraceReader> open_trace(const std::string& path);
std::unique_ptr<TraceReader> read_trace(std::unique_ptr<std::istream> in, const std::string& name);

}  // namespace l2lens
