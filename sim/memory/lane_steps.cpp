// SPDX-License-Identifier: Apache-2.0
// What a lane tells its observer. Apart from the lane's own work, and never called without an observer.
#include "memory/lane.hpp"

namespace l2lens {

LaneStep Lane::step_of(LaneStep::Kind kind, Picoseconds now, int partition, LineNumber line,
                       SectorMask asked) const {
    LaneStep step;
    step.kind = kind;
    step.time = now;
    step.line = line;
    step.lane = static_cast<std::uint16_t>(number_);
    step.partition = static_cast<std::uint8_t>(partition);
    step.asked = asked;
    return step;
}

void Lane::add_lookup(LaneStep& step, const Looked& looked) const {
    const SectorCache::Line& line = slices_[step.partition].cache.at(looked.found.way);
    step.way = looked.found.way;
    step.tag_found = looked.found.present;
    step.pending =
        looked.found.present && looked.fetched == 0 && (line.fill() >= 0 || line.ready() > step.time);
    step.valid = looked.valid;
    step.after = line.valid();
    step.dirty = line.dirty();
    step.fetched = looked.fetched;
    step.last_level = looked.last_level;
    step.cleaned = looked.found.cleaned;
    step.completed = looked.completed;
}

void Lane::tell_merged(Picoseconds now, const LineAccess& request, int partition) const {
    LaneStep step = step_of(LaneStep::Kind::Merged, now, partition, request.line, request.sectors);
    step.gpc = request.gpc;
    step.landing = request.landing;
    observer_->stepped(step);
}

void Lane::tell_request(LaneStep::Kind kind, Picoseconds now, const LineAccess& request, int partition,
                        const Looked& looked, std::int32_t entry) const {
    LaneStep step = step_of(kind, now, partition, request.line, request.sectors);
    add_lookup(step, looked);
    step.gpc = request.gpc;
    step.landing = request.landing;
    step.entry = entry;
    observer_->stepped(step);
}

void Lane::tell_home(LaneStep::Kind kind, Picoseconds now, const Action& action, const Looked& looked) const {
    LaneStep step = step_of(kind, now, action.access.place.home(), action.access.line, action.access.sectors);
    add_lookup(step, looked);
    observer_->stepped(step);
}

void Lane::tell_answer(Picoseconds leaves, const Coalescer::Entry& entry, std::int32_t index,
                       int partition) const {
    LaneStep step = step_of(LaneStep::Kind::Answer, leaves, partition, entry.line, entry.sectors);
    step.gpc = entry.gpc;
    step.landing = entry.landing[0];
    step.requesters = entry.requesters;
    step.entry = index;
    observer_->stepped(step);
}

}  // namespace l2lens
