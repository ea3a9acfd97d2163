// SPDX-License-Identifier: Apache-2.0
// Records a run as it goes: the observer that writes what it sees to a trace.
#pragma once

#include <iosfwd>
#include <memory>
#include <optional>
#include <vector>

#include "machine/machine.hpp"
#include "schedule/request_sink.hpp"
#include "trace/expand.hpp"
#include "trace/writer.hpp"

namespace l2lens {

// Thrown through the run when the trace has reached its largest size. No Error: it is not the user's.
struct RecordingFull {};

class TraceRecorder final : public RequestSink {
public:
    // `header` says where the run comes from and which kind of records are wanted; tensors, walks and lanes
    // come from the run itself. Box traces of kernels with too many walks are a BadInput.
    TraceRecorder(std::ostream& out, const Machine& machine, TraceHeader header, std::uint64_t most_bytes);

    void begin(const Work& work, const LaneSample& sample) override;
    void issued(Picoseconds end, double cycle_ps, std::span<const BoxIssue> boxes) override;

    // Ends the trace; also after RecordingFull.
    TraceEnd finish() { return writer_->finish(sectors_); }
    std::uint64_t written() const { return writer_->written(); }

private:
    void add(const BoxRecord& box);

    std::ostream& out_;
    const Machine& machine_;
    TraceHeader header_;
    std::uint64_t most_bytes_;
    const Work* work_ = nullptr;
    std::optional<AddressMap> map_;
    std::optional<LaneSample> sample_;
    std::optional<BoxExpander> expand_;
    std::vector<TraceWalk> walks_;
    std::optional<TraceWriter> writer_;
    std::uint64_t sectors_ = 0;
};

}  // namespace l2lens
