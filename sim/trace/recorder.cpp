// SPDX-License-Identifier: Apache-2.0
#include "trace/recorder.hpp"

#include <fmt/format.h>

#include "base/error.hpp"

namespace l2lens {

TraceRecorder::TraceRecorder(std::ostream& out, const Machine& machine, TraceHeader header,
                             std::uint64_t most_bytes)
    : out_(out), machine_(machine), header_(std::move(header)), most_bytes_(most_bytes) {}

void TraceRecorder::begin(const Work& work, const LaneSample& sample) {
    work_ = &work;
    if (work.walks() > kMostTraceWalks) {
        throw BadInput(fmt::format("{}: its boxes move in {} different walks; a trace holds up to {}",
                                   work.kernel().name, work.walks(), kMostTraceWalks));
    }
    for (std::size_t i = 0; i < work.walks(); ++i) {
        const auto id = static_cast<std::int32_t>(i);
        walks_.push_back(
            {work.walk(id), work.walk_steps(id), work.walk_stores(id) ? Operation::Write : Operation::Read});
    }
    header_.tensors = work.kernel().tensors;
    header_.walks = static_cast<std::uint32_t>(walks_.size());
    header_.lanes = sample.count();
    header_.lanes_of = machine_.l2.slices_per_partition;
    map_.emplace(machine_, header_.seed);
    sample_.emplace(sample);
    expand_.emplace(machine_, *map_, *sample_, header_.tensors);
    writer_.emplace(out_, header_, walks_, most_bytes_);
}

void TraceRecorder::issued(Picoseconds end, double cycle_ps, std::span<const BoxIssue> boxes) {
    for (const BoxIssue& box : boxes) {
        add({end, cycle_ps, box.time, static_cast<std::uint32_t>(box.walk), box.step, box.sm, box.receivers});
    }
}

void TraceRecorder::add(const BoxRecord& box) {
    bool room = true;
    const auto write = [&](const LineRecord& line, int) { room = room && writer_->add(line); };
    if (header_.kind == RecordKind::Line) {
        sectors_ += (*expand_)(box, walks_[box.walk], write);
    } else {
        sectors_ += work_->lines(static_cast<std::int32_t>(box.walk)).sectors[box.step];
        room = writer_->add(box);
    }
    if (!room) throw RecordingFull{};
}

}  // namespace l2lens
