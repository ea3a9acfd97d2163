// SPDX-License-Identifier: Apache-2.0
// From a box record to the requests for its lines that lie in simulated lanes, with their times: the same
// numbers as the run it was recorded from had.
#pragma once

#include <bit>
#include <cstdint>
#include <span>
#include <vector>

#include "kernel/box_lines.hpp"
#include "memory/address_map.hpp"
#include "schedule/wire.hpp"
#include "schedule/work.hpp"
#include "trace/records.hpp"

namespace l2lens {

class BoxExpander {
public:
    BoxExpander(const Machine& machine, const AddressMap& map, const LaneSample& sample,
                std::span<const Tensor> tensors)
        : machine_(machine), map_(map), sample_(sample), tensors_(tensors) {
        for (std::size_t sm = 0; sm < machine.sms.size(); ++sm)
            wires_.push_back(sm_wire(machine, static_cast<int>(sm), sample.count()));
    }

    // Calls visit(LineRecord, lane) for each line in the sample; returns the sectors of all lines. The box's
    // SM must be one of the machine's.
    template <class Visit>
    std::uint64_t operator()(const BoxRecord& box, const TraceWalk& walk, Visit&& visit) const {
        const BoxTiming timing(machine_, wires_[box.sm], box.cycle_ps, box.time, walk.operation);
        LineRecord record;
        record.window = box.window;
        record.sm = box.sm;
        record.receivers = box.receivers;
        record.operation = walk.operation;
        record.path = walk.box.path;
        record.reduce = walk.reduces();
        record.hint = walk.box.hint;
        std::uint64_t sectors = 0;
        const Tensor& tensor = tensors_[static_cast<std::size_t>(walk.box.tensor)];
        for_each_line(tensor, walk.box, box.step, [&](const LineRequest& line) {
            sectors += static_cast<std::uint64_t>(std::popcount(static_cast<unsigned>(line.sectors)));
            const int lane = sample_.index(map_.lane(line.line));
            if (lane < 0) return;
            record.time = timing.arrival(line.position, static_cast<std::size_t>(lane));
            record.address = (std::uint64_t{line.line} << kLineShift) + line.first_byte;
            record.bytes = line.bytes;
            record.shifted = line.shifted;
            visit(static_cast<const LineRecord&>(record), lane);
        });
        return sectors;
    }

private:
    const Machine& machine_;
    const AddressMap& map_;
    const LaneSample& sample_;
    std::span<const Tensor> tensors_;
    std::vector<SmWire> wires_;  // per SM
};

}  // namespace l2lens
