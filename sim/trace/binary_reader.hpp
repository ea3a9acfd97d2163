// SPDX-License-Identifier: Apache-2.0
// Reads the binary form of a trace. A trace that is cut reads up to its last whole frame, with a warning;
// anything else that is wrong is a BadInput that names the frame.
#pragma once

#include <istream>

#include "trace/frames.hpp"
#include "trace/reader.hpp"

namespace l2lens {

class BinaryTraceReader final : public TraceReader {
public:
    BinaryTraceReader(std::unique_ptr<std::istream> in, const std::string& name);

    bool next(RecordBatch& batch) override;
    std::string where(std::size_t i) const override;

private:
    void read_walks(const Frame& frame);
    void read_records(const Frame& frame, RecordBatch& batch);
    void read_end(const Frame& frame);
    void warn_of_cut();

    std::unique_ptr<std::istream> in_;
    std::string name_;
    FrameReader frames_;
    std::string frame_where_;
    Picoseconds window_ = 0;  // of the last record
    std::uint64_t records_ = 0;
};

}  // namespace l2lens
