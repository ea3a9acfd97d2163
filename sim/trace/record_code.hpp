// SPDX-License-Identifier: Apache-2.0
// Records in the frames of a trace: each is coded as its difference to the one before in its frame, and the
// window it belongs to is said when it changes.
//
//   item    0: window (its end as a difference; its lowest bit says that the clock follows, 8 bytes)
//           else, for a box: 1 + 2 * zigzag(SM) + (receivers follow), time, walk, step, [receivers]
//           for a line: 1 + 2 * zigzag(SM) + (form follows), time, address, [form, bytes, receivers]
// A line's form (form.hpp), bytes and receivers are those of the line before unless they follow.
#pragma once

#include <span>
#include <vector>

#include "trace/bytes.hpp"
#include "trace/records.hpp"

namespace l2lens {

// One of each frame: begin with a new one.
class RecordEncoder {
public:
    void add(const BoxRecord& record);
    void add(const LineRecord& record);

    std::uint32_t count() const { return count_; }
    const std::string& bytes() const { return out_.bytes(); }

private:
    void window(Picoseconds end, double cycle_ps);

    ByteWriter out_;
    std::uint32_t count_ = 0;
    BoxRecord box_{};  // the one before
    LineRecord line_{};
};

std::vector<BoxRecord> decode_boxes(ByteReader& in, std::uint32_t count, std::span<const TraceWalk> walks);
std::vector<LineRecord> decode_lines(ByteReader& in, std::uint32_t count);

}  // namespace l2lens
