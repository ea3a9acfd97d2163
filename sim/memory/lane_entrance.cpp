// SPDX-License-Identifier: Apache-2.0
// How requests come into a slice: who waits in front of the coalescer, who joins whom in it, who waits behind
// it, and when the next one goes on.
#include <algorithm>

#include "memory/lane.hpp"
#include "memory/service.hpp"

namespace l2lens {

void Lane::on_request(Picoseconds now, const Action& request) {
    Slice& slice = slices_[request.partition];
    const LineAccess& access = request.access;
    Entrance& entrance = slice.entrances[entrance_of(access, request.partition)];
    if (slice.first_waiting < 0 && lets_in(slice, entrance, now)) {
        let_in(now, entrance, request);
    } else if (slice.first_waiting < 0) {
        slice.first_waiting = keep_waiting(request);
    } else {
        slice.waiting.push(model_.turn_of_sm[model_.sm_number(access.gpc, access.sm)], keep_waiting(request),
                           room_in_order(slice));
    }
    admit_later(now, slice, request.partition);
}

std::int32_t Lane::keep_waiting(const Action& request) {
    if (free_waiting_.empty()) {
        waiting_.push_back(request);
        return static_cast<std::int32_t>(waiting_.size() - 1);
    }
    const std::int32_t number = free_waiting_.back();
    free_waiting_.pop_back();
    waiting_[static_cast<std::size_t>(number)] = request;
    return number;
}

void Lane::admit_later(Picoseconds now, Slice& slice, int partition) {
    if (slice.admission_due || !may_go_on(slice, partition)) return;
    slice.admission_due = true;
    add(std::max(now, takes_more_at(slice, now)), Kind::Admission, partition, -1);
}

// Somebody waits, and not for a far line to arrive: on_answer() looks again then.
bool Lane::may_go_on(const Slice& slice, int partition) const {
    for (const Entrance& entrance : slice.entrances)
        if (!entrance.lookups.empty() && !is_shut(slice, entrance)) return true;
    if (slice.first_waiting < 0) return false;
    const LineAccess& first = waiting_[static_cast<std::size_t>(slice.first_waiting)].access;
    return !is_shut(slice, slice.entrances[entrance_of(first, partition)]);
}

void Lane::on_admission(Picoseconds now, int partition) {
    Slice& slice = slices_[static_cast<std::size_t>(partition)];
    slice.admission_due = false;
    serve_next(now, slice);
    while (slice.first_waiting >= 0) {
        const Action& first = waiting_[static_cast<std::size_t>(slice.first_waiting)];
        Entrance& entrance = slice.entrances[entrance_of(first.access, partition)];
        if (!lets_in(slice, entrance, now)) break;
        free_waiting_.push_back(slice.first_waiting);
        let_in(now, entrance, first);
        slice.first_waiting = slice.waiting.empty() ? -1 : slice.waiting.pop(room_in_order(slice));
        if (slice.first_waiting >= 0) prefetch_waiting(slice);
    }
    admit_later(now, slice, partition);
}

// What the coalescer will look at when the one that waits first in front of it is let in.
void Lane::prefetch_waiting(const Slice& slice) const {
    const LineAccess& access = waiting_[static_cast<std::size_t>(slice.first_waiting)].access;
    slice.coalescer.prefetch(access.line, access.gpc);
}

// One that has passed the coalescer: the entrances take turns. Fetches what a later one will look at.
void Lane::serve_next(Picoseconds now, Slice& slice) {
    for (std::size_t tried = 0; tried < slice.entrances.size(); ++tried) {
        Entrance& entrance = slice.entrances[slice.next_entrance];
        slice.next_entrance ^= 1u;
        if (entrance.lookups.empty() || is_full(slice, entrance, now)) continue;
        if (entrance.lookups.size() > kLookupsSoon)
            slice.cache.prefetch(entrance.lookups.at(kLookupsSoon).request.access.place.set());
        return serve(now, entrance.lookups.pop().request);
    }
}

// Its wait in front of the coalescer is over.
void Lane::let_in(Picoseconds now, Entrance& entrance, Action request) {
    if (request.kind == Kind::Read && coalesce(now, request.access, request.partition, request.index)) return;
    if (entrance.lookups.empty() && !is_full(slices_[request.partition], entrance, now)) {
        serve(now, request);
    } else {
        entrance.lookups.push({request, now});
    }
}

// True for a read that joined another; else it has an entry of its own.
bool Lane::coalesce(Picoseconds now, const LineAccess& request, int partition, std::int32_t& entry) {
    const auto sectors = static_cast<std::uint64_t>(count(request.sectors));
    events_[Event::CoalescableRequests] += 1;
    events_[Event::CoalescableSectors] += sectors;
    events_[Event::DeliveredSectors] += sectors * request.receivers;
    events_[Event::MulticastSectors] += sectors * (request.receivers - 1u);
    Slice& slice = slices_[static_cast<std::size_t>(partition)];
    const std::int32_t joined = slice.coalescer.join(request, now);
    if (joined < 0) {
        entry = slice.coalescer.open(request);
        ++slice.unanswered;
        return false;
    }
    follow(slice, request, partition, joined);
    events_[Event::MergedSectors] += sectors;
    if (observer_ != nullptr) tell_merged(now, request, partition);
    return true;
}

void Lane::serve(Picoseconds now, const Action& request) {
    if (request.kind == Kind::Read) {
        on_read(now, request.access, request.partition, request.index);
    } else {
        on_write(now, request.access, request.partition);
    }
}

// What waits first behind a coalescer: other lanes' windows have pushed its sets out of the processor's
// caches.
void Lane::prefetch_first(const Slice& slice) const {
    for (const Entrance& entrance : slice.entrances)
        for (std::size_t i = 0; i < std::min(entrance.lookups.size(), kLookupsSoon); ++i)
            slice.cache.prefetch(entrance.lookups.at(i).request.access.place.set());
}

}  // namespace l2lens
