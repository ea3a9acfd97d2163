// SPDX-License-Identifier: Apache-2.0
#include "memory/lane.hpp"

#include <algorithm>
#include <utility>

#include "memory/promotion.hpp"
#include "memory/service.hpp"

namespace l2lens {
namespace {

// A box is complete when the last of its lines is. Lines that are not simulated wait at other slices'
// outputs: by so many of the mean waits of its GPC's lines at this one, times the logarithm of how many lines
// a simulated one stands for, the last of them comes later. Half, since lines of one slice wait together: a
// step of 132 CTAs that share their boxes takes 486 and 354 ns with three and four stages on every 16th
// slice, 483 and 354 on all, 472 and 348 without (in the model before refreshes, by the mean waits of all
// GPCs). With all slices the last one comes later still, and by chance: docs/tried.md, "Orders that only just
// fit", has by how much, and what was tried.
constexpr double kLateWaits = 0.5;

}  // namespace

Lane::Lane(const MemoryModel& model, std::uint64_t seed, int number)
    : model_(model),
      t_(model.timing),
      random_(seed, static_cast<std::uint64_t>(number)),
      number_(number),
      private_partitions_(model.machine.l2.private_partitions) {
    const Machine& machine = model.machine;
    const int requesters = machine.coalescer.present ? machine.coalescer.max_requesters : 1;
    for (int p = 0; p < machine.partitions; ++p) {
        const auto entrance = [&](bool far) {
            const int room = far ? machine.l2.far_queue_requests : machine.l2.lookup_queue_requests;
            return Entrance{LookupQueue<Waiting>(room), far};
        };
        slices_.push_back(Slice{SectorCache(model.map.sets(), machine.l2.ways, machine.l2.dirty_ways),
                                Coalescer(requesters),
                                {entrance(false), entrance(true)},
                                GpcWays(machine.gpcs),
                                TurnQueue(machine.gpcs * machine.cpcs_per_gpc)});
        slices_.back().output_waits.resize(static_cast<std::size_t>(machine.gpcs));
        if (machine.l2.far_in_order) slices_.back().last_far.resize(model.sm_number(machine.gpcs, 0));
    }
    if (machine.last_level.bytes > 0) last_level_.emplace(machine);
    answers_.resize(static_cast<std::size_t>(machine.gpcs));
}

void Lane::submit(std::span<const Request> requests) {
    constexpr std::size_t kBucketsSoon = 8;  // requests before one whose bucket is fetched
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (i + kBucketsSoon < requests.size()) wheel_.prefetch(requests[i + kBucketsSoon].time);
        submit(requests[i]);
    }
}

void Lane::submit(const Request& request) {
    const Kind kind = request.operation == Operation::Read ? Kind::Read : Kind::Write;
    Action& action = add(request.time, kind, model_.partition_of_gpc[request.gpc], -1);
    action.access = static_cast<const LineAccess&>(request);
    if (!request.place.known()) action.access.place = model_.map.place(request.line);
}

// What is to happen at `time`, to be filled in where it lies.
Lane::Action& Lane::add(Picoseconds time, Kind kind, int partition, std::int32_t index) {
    Action& action = wheel_.add(time);
    action.index = index;
    action.kind = kind;
    action.partition = static_cast<std::uint8_t>(partition);
    return action;
}

void Lane::run_until(Picoseconds end) {
    for (const Slice& slice : slices_) prefetch_first(slice);
    wheel_.run_until(
        end, [this](Picoseconds now, const Action& action) { act(now, action); },
        [this](const Action& action) { prefetch(action); });
}

void Lane::act(Picoseconds now, const Action& action) {
    switch (action.kind) {
        case Kind::Read:
        case Kind::Write:
            return on_request(now, action);
        case Kind::Admission:
            return on_admission(now, action.partition);
        case Kind::HomeLookup:
            return on_home_lookup(now, action);
        case Kind::HomeReply:
            return on_home_reply(now, action);
        case Kind::HomeWrite:
            return on_home_write(now, action);
        case Kind::Answer:
            return on_answer(now, action.index, action.partition);
    }
}

// Fetches what act() will look at, unless the request will wait until that is gone again (serve_next).
void Lane::prefetch(const Action& action) const {
    const Slice& slice = slices_[action.partition];
    const LineAccess& access = action.access;
    switch (action.kind) {
        case Kind::Read:
            if (slice.first_waiting < 0) slice.coalescer.prefetch(access.line, access.gpc);
            [[fallthrough]];
        case Kind::Write:
            if (slice.entrances[entrance_of(access, action.partition)].lookups.empty())
                slice.cache.prefetch(access.place.set());
            return;
        case Kind::HomeLookup:
        case Kind::HomeWrite:
            return home_of(access).cache.prefetch(access.place.set());
        case Kind::Answer:
            slice.coalescer.prefetch(access.line, access.gpc);
            return slice.coalescer.prefetch(action.index);
        case Kind::Admission:
        case Kind::HomeReply:
            return;
    }
}

void Lane::reset_events() {
    events_ = Events{};
    for (Slice& slice : slices_) slice.sectors = 0;
}

void Lane::on_read(Picoseconds now, const LineAccess& request, int partition, std::int32_t entry) {
    const int sectors = count(request.sectors);
    const auto counted = static_cast<std::uint64_t>(sectors);
    Slice& slice = slices_[static_cast<std::size_t>(partition)];
    const Picoseconds looked_up = take_turn(slice.tag_free, now, t_.tag);
    events_[Event::TexRequests] += 1;
    events_[Event::TexReadSectors] += counted;
    slice.sectors += counted;

    const SectorCache::Found found = look_up(looked_up, slice, request);
    SectorCache::Line& line = slice.cache.at(found.way);
    const auto asked_missing = static_cast<SectorMask>(request.sectors & ~line.valid());
    const Coalescer::Entry* const ahead = follow(slice, request, partition, entry);
    events_[Event::TexReadHits] += static_cast<std::uint64_t>(sectors - count(asked_missing));
    if (asked_missing == 0) {
        if (observer_ != nullptr)
            tell_request(LaneStep::Kind::Read, now, request, partition, {found, line.valid(), 0}, entry);
        answer_hit(looked_up, partition, entry, line, ahead);
        return;
    }
    const int fetch =
        request.fetch == Fetch::Tensor ? model_.machine.l2.tensor_fetch_bytes : model_.machine.l2.fetch_bytes;
    const auto missing = static_cast<SectorMask>(promote(asked_missing, fetch) & ~line.valid());
    events_[Event::TexReadMisses] += static_cast<std::uint64_t>(count(asked_missing));
    events_[Event::TexReadPromoted] += static_cast<std::uint64_t>(count(missing) - count(asked_missing));
    const SectorMask valid = line.valid();
    line.add(missing);
    last_level_had_ = 0;
    if (is_home(request, partition)) {
        const Arrival fetched =
            fetch_sectors(slice, request.line, looked_up + t_.miss, missing, wait_for_older(slice, now));
        line.arrives(fetched.ready, fetched.settled);
        slice.coalescer.entry(entry).arrives(line.ready(), line.settled());
        answer_at(line.ready(), partition, entry);
    } else {
        fetch_missing(looked_up, request, partition, entry, found.way, missing);
    }
    if (observer_ != nullptr)
        tell_request(LaneStep::Kind::Read, now, request, partition, {found, valid, missing, last_level_had_},
                     entry);
}

// The sectors are here, or on their way.
void Lane::answer_hit(Picoseconds looked_up, int partition, std::int32_t entry, const SectorCache::Line& line,
                      const Coalescer::Entry* ahead) {
    Slice& slice = slices_[static_cast<std::size_t>(partition)];
    const std::int32_t awaited = line.fill() < 0 && ahead != nullptr ? ahead->fill : line.fill();
    if (awaited >= 0) {
        wait_for(awaited, entry, slice.coalescer);
        return;
    }
    Coalescer::Entry& e = slice.coalescer.entry(entry);
    e.arrives(ahead == nullptr ? line.ready() : std::max(line.ready(), ahead->ready), line.settled());
    if (e.ready > looked_up + t_.hit) {
        answer_at(e.ready, partition, entry);
        return;
    }
    e.charged = true;
    e.open_until = std::min(e.open_until, looked_up + t_.hit);
    answer_at(leave_output(looked_up + t_.hit, slice, e.gpc, count(e.sectors)), partition, entry);
}

// The entry becomes what the load engine of the request's SM asked this slice for last, of lines whose home
// is not here. What it asked for before: nullptr when that was answered (traces/h200/boxes.csv).
const Coalescer::Entry* Lane::follow(Slice& slice, const LineAccess& request, int partition,
                                     std::int32_t entry) {
    if (slice.last_far.empty() || request.fetch != Fetch::Tensor || is_home(request, partition))
        return nullptr;
    Coalescer::Ticket& last = slice.last_far[model_.sm_number(request.gpc, request.sm)];
    return slice.coalescer.find(std::exchange(last, slice.coalescer.ticket(entry)));
}

// When data that is ready at `now` has left for a GPC: through the output, in order, and then by its way.
Picoseconds Lane::leave_output(Picoseconds now, Slice& slice, int gpc, int sectors) {
    const Picoseconds work = sectors * t_.output_sector;
    take_turn(slice.output_free, now, work);
    const Picoseconds on_way = t_.gpc_way[static_cast<std::size_t>(sectors)];
    const Picoseconds leaves = slice.gpc_ways.leave(slice.output_free, gpc, on_way);
    if (t_.late_jitters > 0) slice.output_waits[static_cast<std::size_t>(gpc)].add(leaves - work - now);
    return leaves;
}

void Lane::answer_at(Picoseconds time, int partition, std::int32_t entry) {
    Action& answer = add(time, Kind::Answer, partition, entry);
    const Coalescer::Entry& e = slices_[static_cast<std::size_t>(partition)].coalescer.entry(entry);
    answer.access.line = e.line;  // for prefetch()
    answer.access.gpc = e.gpc;
}

// Asks the home partition for the missing sectors of a far-homed line.
void Lane::fetch_missing(Picoseconds looked_up, const LineAccess& request, int partition, std::int32_t entry,
                         std::uint32_t way, SectorMask missing) {
    Slice& slice = slices_[static_cast<std::size_t>(partition)];
    const std::int32_t fill = take_fill();
    fills_[static_cast<std::size_t>(fill)] =
        Fill{way, request.line, -1, static_cast<std::uint8_t>(partition)};
    wait_for(fill, entry, slice.coalescer);
    slice.coalescer.entry(entry).fetched_far = true;
    ++slice.far_lines;
    slice.cache.at(way).wait_for(fill);
    Action& lookup = add(looked_up + t_.miss + t_.fabric_request, Kind::HomeLookup, partition, fill);
    lookup.access = request;
    lookup.access.sectors = missing;
}

void Lane::on_home_lookup(Picoseconds now, const Action& action) {
    const LineAccess& access = action.access;
    Slice& home = home_of(access);
    const int sectors = count(access.sectors);
    events_[Event::FabricRequests] += 1;
    events_[Event::FabricReadSectors] += static_cast<std::uint64_t>(sectors);
    home.sectors += static_cast<std::uint64_t>(sectors);
    const Picoseconds looked_up = take_turn(home.tag_free, now, t_.tag);
    const SectorCache::Found found = look_up(looked_up, home, access);
    SectorCache::Line& line = home.cache.at(found.way);
    const auto missing = static_cast<SectorMask>(access.sectors & ~line.valid());
    const auto missed = static_cast<std::uint64_t>(count(missing));
    events_[Event::FabricReadHits] += static_cast<std::uint64_t>(sectors) - missed;
    events_[Event::FabricReadMisses] += missed;
    home.far_misses.add(missed != 0);
    const SectorMask valid = line.valid();
    last_level_had_ = 0;
    Picoseconds ready = std::max(looked_up + t_.hit, line.ready());
    if (missing != 0) {
        const Arrival fetched = fetch_sectors(home, access.line, looked_up + t_.miss, missing, 0);
        line.add(missing);
        line.arrives(fetched.ready, fetched.settled);
        ready = fetched.ready;
    }
    fills_[static_cast<std::size_t>(action.index)].settled = line.settled();
    if (observer_ != nullptr)
        tell_home(LaneStep::Kind::HomeRead, now, action, {found, valid, missing, last_level_had_});
    add(ready, Kind::HomeReply, action.partition, action.index).access = access;
}

// The home's data crosses the fabric, becomes a copy in the asking partition and wakes those who wait for it.
void Lane::on_home_reply(Picoseconds now, const Action& action) {
    Slice& home = home_of(action.access);
    const int sectors = count(action.access.sectors);
    if (!model_.machine.l2.replies_apart) take_turn(home.output_free, now, sectors * t_.output_sector);
    take_turn(home.fabric_free, now, sectors * t_.fabric_sector);
    const Picoseconds leaves =
        model_.machine.l2.replies_apart ? home.fabric_free : std::max(home.output_free, home.fabric_free);
    const Picoseconds arrival = leaves + t_.fabric_reply;

    const Fill fill = fills_[static_cast<std::size_t>(action.index)];
    const Picoseconds settled = arrival + std::max(fill.settled - now, Picoseconds{0});
    Slice& slice = slices_[fill.partition];
    SectorCache::Line& copy = slice.cache.at(fill.way);
    if (slice.cache.holds(fill.way, fill.line) && copy.fill() == action.index) copy.arrived(arrival, settled);
    for (std::int32_t entry = fill.first_waiting; entry >= 0;) {
        Coalescer::Entry& waiting = slice.coalescer.entry(entry);
        const std::int32_t next = waiting.next_waiting;
        waiting.fill = -1;
        waiting.arrives(arrival, settled);
        answer_at(arrival, fill.partition, entry);
        entry = next;
    }
    free_fills_.push_back(action.index);
}

void Lane::on_write(Picoseconds now, const LineAccess& request, int partition) {
    Slice& slice = slices_[static_cast<std::size_t>(partition)];
    const auto sectors = static_cast<std::uint64_t>(count(request.sectors));
    events_[Event::TexRequests] += 1;
    events_[Event::TexWriteSectors] += sectors;
    slice.sectors += sectors;
    const Picoseconds looked_up = take_turn(slice.tag_free, now, t_.tag_write);
    if (is_home(request, partition)) {
        const Looked stored = store(looked_up, slice, request, false);
        if (observer_ != nullptr) tell_request(LaneStep::Kind::Write, now, request, partition, stored, -1);
        return;
    }
    // It leaves a copy, as a far read does: what was written hits when it is read again, and takes the place
    // of other lines (traces/h200/write_back.csv).
    const SectorCache::Found copy = look_up(looked_up, slice, request);
    SectorCache::Line& line = slice.cache.at(copy.way);
    const SectorMask valid = line.valid();
    line.add(static_cast<SectorMask>(request.sectors & ~request.partial));
    if (observer_ != nullptr) tell_request(LaneStep::Kind::Write, now, request, partition, {copy, valid}, -1);
    take_turn(slice.fabric_free, looked_up, static_cast<Picoseconds>(sectors) * t_.fabric_sector);
    add(slice.fabric_free + t_.fabric_request, Kind::HomeWrite, partition, -1).access = request;
}

void Lane::on_home_write(Picoseconds now, const Action& action) {
    const LineAccess& access = action.access;
    Slice& home = home_of(access);
    const auto sectors = static_cast<std::uint64_t>(count(access.sectors));
    events_[Event::FabricRequests] += 1;
    events_[Event::FabricWriteSectors] += sectors;
    home.sectors += sectors;
    const Picoseconds looked_up = take_turn(home.tag_free, now, t_.tag_write);
    const Looked stored = store(looked_up, home, access, true);
    if (observer_ != nullptr) tell_home(LaneStep::Kind::HomeWrite, now, action, stored);
}

// Writes to the line's home. What a reduction adds to and is not there is fetched first. A sector that is
// written in part keeps what was written: a second part is taken to be the rest of it, as the rows of
// neighbouring tiles are, and what is still missing when it is written back is fetched then (DRAM fills of
// launches whose rows of C end within sectors, traces/h200/gemm_more.csv, and of strided 4 B writes,
// microbenchmarks.csv).
Lane::Looked Lane::store(Picoseconds now, Slice& home, const LineAccess& access, bool far) {
    const SectorCache::Found found = look_up(now, home, access);
    SectorCache::Line& line = home.cache.at(found.way);
    const bool adds = access.operation == Operation::Add;
    const auto fetched = static_cast<SectorMask>(adds ? access.sectors & ~line.valid() : 0);
    last_level_had_ = 0;
    if (fetched != 0) {
        const Arrival arrival =
            fetch_sectors(home, access.line, now + t_.miss, fetched, far ? 0 : wait_for_older(home, now));
        line.arrives(arrival.ready, arrival.settled);
        events_[far ? Event::FabricReadMisses : Event::TexWriteMisses] +=
            static_cast<std::uint64_t>(count(fetched));
    }
    const SectorMask valid = line.valid();
    line.add(static_cast<SectorMask>(access.sectors & (~access.partial | line.dirty() | fetched)));
    home.cache.write(access.place.set(), found.way, access.sectors);
    SectorCache::Cleaned completed;
    if (const int most = model_.machine.l2.incomplete_ways; most > 0 && line.incomplete() != 0)
        completed = home.cache.clean_incomplete_beyond(access.place.set(), most);
    write_back(now, home, completed);
    return {found, valid, fetched, last_level_had_, completed};
}

void Lane::on_answer(Picoseconds now, std::int32_t index, int partition) {
    Slice& slice = slices_[static_cast<std::size_t>(partition)];
    const Coalescer::Entry& entry = slice.coalescer.entry(index);
    const int sectors = count(entry.sectors);
    const Picoseconds leaves = entry.charged ? now : leave_output(now, slice, entry.gpc, sectors);
    const Picoseconds others_leave =
        leaves + slice.output_waits[entry.gpc].longer_by(kLateWaits * t_.late_jitters);
    if (entry.fetched_far) {
        if (slice.far_lines == t_.far_lines) slice.far_opened = now;
        --slice.far_lines;
        admit_later(now, slice, partition);
    }
    const Picoseconds late = std::max(others_leave, entry.settled()) - leaves;
    answers_[entry.gpc].push_back(Answer{leaves + t_.slice_to_sm, entry.landing,
                                         static_cast<std::uint32_t>(late), entry.requesters,
                                         static_cast<std::uint8_t>(sectors)});
    if (observer_ != nullptr) tell_answer(leaves, entry, index, partition);
    --slice.unanswered;
    slice.coalescer.close(index);
}

// Finds or allocates a line. What is cleaned of its set goes back to DRAM.
SectorCache::Found Lane::look_up(Picoseconds now, Slice& slice, const LineAccess& access) {
    const bool may_clean = slice.writes.has_room(now, t_.dram_write);
    const SectorCache::Found found =
        slice.cache.find_or_allocate(access.place.set(), access.line, access.priority, may_clean);
    write_back(now, slice, found.cleaned);
    return found;
}

void Lane::wait_for(std::int32_t fill, std::int32_t entry, Coalescer& coalescer) {
    Fill& f = fills_[static_cast<std::size_t>(fill)];
    coalescer.entry(entry).fill = fill;
    coalescer.entry(entry).next_waiting = f.first_waiting;
    f.first_waiting = entry;
}

std::int32_t Lane::take_fill() {
    if (free_fills_.empty()) {
        fills_.emplace_back();
        return static_cast<std::int32_t>(fills_.size() - 1);
    }
    const std::int32_t fill = free_fills_.back();
    free_fills_.pop_back();
    return fill;
}

}  // namespace l2lens
