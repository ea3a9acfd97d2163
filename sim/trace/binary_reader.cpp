// SPDX-License-Identifier: Apache-2.0
#include "trace/binary_reader.hpp"

#include <fmt/format.h>

#include "base/error.hpp"
#include "trace/record_code.hpp"
#include "trace/walk_code.hpp"

namespace l2lens {

BinaryTraceReader::BinaryTraceReader(std::unique_ptr<std::istream> in, const std::string& name)
    : in_(std::move(in)), name_(name), frames_(*in_, name) {
    header_ = parse_header_json(frames_.header(), name_ + ": head");
    while (walks_.size() < header_.walks) {
        const std::optional<Frame> frame = frames_.next();
        if (!frame) throw BadInput(name_ + ": is cut inside the table of walks");
        if (frame->type != FrameType::Walks) throw BadInput(frame->where + " is no table of walks");
        read_walks(*frame);
    }
}

bool BinaryTraceReader::next(RecordBatch& batch) {
    batch = {};
    if (end_ || !warning_.empty()) return false;
    const std::optional<Frame> frame = frames_.next();
    if (!frame) {
        warn_of_cut();
        return false;
    }
    if (frame->type == FrameType::Walks) throw BadInput(frame->where + " is one table of walks too many");
    if (frame->type == FrameType::Records) {
        read_records(*frame, batch);
        return true;
    }
    read_end(*frame);
    return false;
}

std::string BinaryTraceReader::where(std::size_t i) const {
    return fmt::format("{}, record {}", frame_where_, i + 1);
}

void BinaryTraceReader::read_walks(const Frame& frame) {
    ByteReader in(frame.bytes, frame.where);
    if (frame.count == 0 || frame.count > header_.walks - walks_.size())
        in.fail("has another number of walks than the head says");
    for (std::uint32_t i = 0; i < frame.count; ++i) walks_.push_back(decode_walk(in, header_.tensors));
    if (!in.at_end()) in.fail("has more bytes than walks");
}

void BinaryTraceReader::read_records(const Frame& frame, RecordBatch& batch) {
    ByteReader in(frame.bytes, frame.where);
    frame_where_ = frame.where;
    if (header_.kind == RecordKind::Box) {
        batch.boxes = decode_boxes(in, frame.count, walks_);
    } else {
        batch.lines = decode_lines(in, frame.count);
    }
    if (batch.size() == 0) in.fail("has no records");
    const Picoseconds first = batch.boxes.empty() ? batch.lines.front().window : batch.boxes.front().window;
    if (first < window_) in.fail("goes back in time");
    window_ = batch.boxes.empty() ? batch.lines.back().window : batch.boxes.back().window;
    records_ += batch.size();
}

void BinaryTraceReader::read_end(const Frame& frame) {
    end_ = parse_end_json(frame.bytes, frame.where);
    if (end_->records != records_) {
        throw BadInput(fmt::format("{} says {} records; there are {}", frame.where, end_->records, records_));
    }
    if (frames_.next() || frames_.cut()) throw BadInput(frame.where + " is followed by more bytes");
    if (!end_->complete) {
        warning_ = fmt::format("{}: the recording was stopped at its largest size, after {} records", name_,
                               records_);
    }
}

void BinaryTraceReader::warn_of_cut() {
    warning_ =
        fmt::format("{}: the trace is cut: it ends {} frame {} (byte {}), after {} records", name_,
                    frames_.cut() ? "inside" : "before", frames_.frames() + 1, frames_.offset(), records_);
}

}  // namespace l2lens
