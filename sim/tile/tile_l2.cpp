// SPDX-License-Identifier: Apache-2.0
#include "tile/tile_l2.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace l2lens {
namespace {

MemoryTiming timing_of(const Machine& machine, Picoseconds way_in, std::uint64_t seed) {
    MemoryTiming timing = MemoryTiming::of(machine, 1, seed);
    timing.slice_to_sm += way_in;
    return timing;
}

}  // namespace

TileL2::TileL2(const Machine& machine, const BoxTable& boxes, const BoxPaces& paces, std::size_t boxes_of_cta,
               int ctas_per_sm, std::uint64_t seed, TileWheel& wheel)
    : machine_(machine),
      boxes_(boxes),
      paces_(paces),
      wheel_(wheel),
      way_in_(from_ns(machine.latency.sm_to_slice_ns +
                      machine.latency.load_issue_cycles / machine.clock.sm_max_ghz)),
      t_(timing_of(machine, way_in_, seed)),
      dram_wait_(static_cast<Picoseconds>(t_.dram_jitter_ps) + t_.refresh.mean()),
      dram_sector_(static_cast<double>(t_.dram_sector) / machine.l2.slices_per_partition),
      hit_ramp_(
          static_cast<Picoseconds>(machine.latency.slice_spread_cycles * 1000.0 / machine.clock.sm_max_ghz)),
      lookup_queue_(machine.l2.lookup_queue_requests * kSectorsPerLine * t_.output_sector),
      tags_wait_(tags_are_busy()),
      curve_(t_.dram_jitter_ps, t_.refresh),
      log_lines_per_refreshed_(t_.refresh.length() > 0 ? -std::log(t_.refresh.share()) : 0),
      max_requesters_(machine.coalescer.present ? machine.coalescer.max_requesters : 1),
      gpcs_(static_cast<std::uint32_t>(machine.gpcs)),
      partition_of_gpc_(gpcs_),
      flows_(port_of(gpcs_), kMostHomes),
      parts_(boxes.regions() * kMostHomes),
      slices_(static_cast<std::size_t>(machine.partitions),
              Slices(boxes.regions() * kMostHomes, capacities(),
                     machine.partition_bytes() / kSectorBytes * machine.l2.dirty_ways / machine.l2.ways)),
      random_(seed, 0x71E) {
    for (const Sm& sm : machine.sms)
        partition_of_gpc_[static_cast<std::size_t>(sm.gpc)] = static_cast<std::uint8_t>(sm.partition);
    for (Share share = 1; share <= kAll; ++share)
        log_share_[share] = static_cast<float>(std::log(static_cast<double>(share) / kAll));
    if (max_requesters_ > 1) opened_.assign(boxes.boxes() * gpcs_, 0);
    // A box has one entry, from when it leaves until it has landed, and half as many again may be joined yet.
    const std::size_t boxes_of_sm = boxes_of_cta * static_cast<std::size_t>(ctas_per_sm);
    entries_.resize(std::bit_ceil((boxes_of_sm + boxes_of_sm / 2 + 1) * machine.sms.size()));
    entry_mask_ = static_cast<std::uint32_t>(entries_.size() - 1);
    for (const BoxShape& shape : boxes.shapes()) turns_.push_back(turns_of(machine, t_, shape));
}

// How many lines the partition would hold if all its sets were as full as those of a class: sets take the
// same number of lines, so the fuller ones see less of the past.
std::array<std::int64_t, kSetClasses> TileL2::capacities() const {
    constexpr double kSeen = 0.75;  // fits the line engine's DRAM fills over traces/h200/gemm.csv
    const std::int64_t all = machine_.partition_bytes() / kLineBytes;
    std::array<std::int64_t, kSetClasses> lines{};
    for (std::size_t c = 0; c < kSetClasses; ++c) {
        const double fullness = 1 + kSeen * (boxes_.set_fullness()[c] - 1);
        lines[c] = std::llround(static_cast<double>(all) / fullness);
    }
    return lines;
}

// Lines of four sectors leave a slice at half the rate at which its tags can look them up, so that nothing
// ever waits for tags; many small requests or stores do.
bool TileL2::tags_are_busy() const {
    const BoxTable::Traffic& traffic = boxes_.traffic();
    const double tags = traffic.read_requests * static_cast<double>(t_.tag) +
                        traffic.write_requests * static_cast<double>(t_.tag_write);
    constexpr double kBusy = 0.6;  // of the outputs' time: below, queues of tags come to nothing
    return tags > kBusy * traffic.read_sectors * static_cast<double>(t_.output_sector);
}

TileL2::Coming TileL2::read(Picoseconds now, Picoseconds reached, const Box& box, std::uint32_t gpc,
                            bool alone) {
    const std::uint32_t partition = partition_of_gpc_[gpc];
    const std::uint64_t key = static_cast<std::uint64_t>(box.id) * gpcs_ + gpc;
    const bool joins_others = max_requesters_ > 1 && !alone && !boxes_.shape(box).shifted;
    if (joins_others) {
        // What waits in front of the coalescer has no entry that others could join.
        const Picoseconds let_in =
            reached + std::max(tag_wait(partition, reached) - t_.tag_queue, Picoseconds{0});
        Entry& open = entries_[opened_[key]];
        if (open.key == key && open.requesters < max_requesters_ && !over(open, let_in) &&
            join(let_in, box, partition, open))
            return coming(open);
    }

    // Its own lookup, in the requester's own partition. The entry taken was opened longest ago, and is over.
    if (++last_entry_ == kNotLate) ++last_entry_;
    Entry& entry = entry_of(last_entry_);
    if (joins_others) opened_[key] = last_entry_ & entry_mask_;
    entry.number = last_entry_;
    const ShapeTurns& turns = turns_[box.shape];
    entry.looked_up = look_up(partition, reached, box.shape, turns.tag);
    // While the output is full, what has passed the coalescer waits for its lookup, and may be joined.
    const Picoseconds queued = flows_.backlog(output_of(partition), now);
    entry.closes = entry.looked_up + t_.hit + hit_ramp_ + std::min(queued, lookup_queue_);
    entry.opens = kNever;
    entry.done = entry.looked_up + t_.hit;
    entry.key = key;
    entry.region = box.region;
    entry.shape = box.shape;
    entry.gpc = static_cast<std::uint8_t>(gpc);
    entry.requesters = 1;
    entry.pending = {};
    if (all_there(reached, box.region, partition)) {
        slices_[partition].log.use(unit_of(box.region, 0));
        slices_[partition].log.use(unit_of(box.region, 1));
    } else {
        look_for_parts(reached, box, partition, entry);
    }
    answer(now, entry, queued);
    return coming(entry);
}

Picoseconds TileL2::settled_late(const Coming& box) {
    const Entry& entry = entry_of(box.entry);
    if (entry.number != box.entry) return box.at;  // that long ago
    const std::uint32_t partition = partition_of_gpc_[entry.gpc];
    auto& parts = parts_[parts_index(entry.region, partition)].of_home;
    Picoseconds done = entry.looked_up + t_.hit;
    for (std::uint32_t home = 0; home < kMostHomes; ++home) {
        if (entry.pending[home] == 0) continue;
        Part& there = parts[home];
        if (there.fetch != entry.fetch[home]) return box.at;  // let go of, and fetched again
        if (there.expected) settle(there, entry.region, partition, home, box.shape);
        done = std::max(done, there.last);
    }
    return done + way_back(box.shape);
}

// Looks up what a part waited for, in queues that have gone on since.
void TileL2::settle(Part& there, std::uint32_t region, std::uint32_t partition, std::uint32_t home,
                    std::uint32_t shape) {
    there.expected = false;
    if (partition == home) return settle_home(there, home);
    Part& at_home = part(region, home, home);
    if (at_home.fetch != there.of_fetch) return;  // let go of, and fetched again
    if (at_home.expected) settle_home(at_home, home);
    if (flows_.known(there.last)) leave_home(there, at_home, home, shape);
}

void TileL2::settle_home(Part& there, std::uint32_t home) {
    there.expected = false;
    if (!flows_.known(there.queued)) return;
    const Picoseconds longer = flows_.backlog(dram_of(home), there.queued) - there.wait;
    there.opens += longer;
    there.last += longer;
}

// The last line of a copy waits for the fabric, and for its slice's output port if replies leave by it.
void TileL2::leave_home(Part& copy, const Part& there, std::uint32_t home, std::uint32_t shape) const {
    const Picoseconds last = std::max(copy.queued, there.last);
    const Picoseconds leaves = last - paces_.of(shape).first_step_to_middle();
    Picoseconds wait = flows_.backlog(fabric_of(home), leaves);
    if (!machine_.l2.replies_apart) wait = std::max(wait, flows_.backlog(output_of(home), leaves));
    copy.opens = std::max(copy.queued, there.opens) + t_.fabric_reply;
    copy.last = std::max(last + wait + copy.wait + t_.fabric_reply, copy.opens + 1);
}

// Are the lines of both homes held, and landed?
bool TileL2::all_there(Picoseconds reached, std::uint32_t region, std::uint32_t partition) const {
    const auto& parts = parts_[parts_index(region, partition)].of_home;
    return all_held(region, partition) && reached >= std::max(parts[0].last, parts[1].last);
}

// What of the box is not there is asked for; the entry waits for it and for what is on its way.
void TileL2::look_for_parts(Picoseconds reached, const Box& box, std::uint32_t partition, Entry& entry) {
    const ShapeTurns& turns = turns_[box.shape];
    for (std::uint32_t home = 0; home < kMostHomes; ++home) {
        if (turns.part[home].requests == 0) continue;
        const Share share = missing(box.region, partition, home);
        Part& there = part(box.region, partition, home);
        if (share > 0) {
            miss(entry.looked_up, box, partition, home, share);
        } else {
            slices_[partition].log.use(unit_of(box.region, home));
            if (there.far_at > entry.looked_up) be_first(entry.looked_up, box, home);
        }
        const Share landing = pending(reached, there);
        if (landing == 0) continue;
        entry.pending[home] = static_cast<std::uint16_t>(landing);
        entry.fetch[home] = there.fetch;
        entry.opens = std::min(entry.opens, there.opens);
        entry.done = std::max(entry.done, there.last);
    }
}

// Merges what can be merged with an open entry's requests; true when that is most of the box. The rest are
// lookups that hit.
bool TileL2::join(Picoseconds reached, const Box& box, std::uint32_t partition, Entry& open) {
    const BoxShape& shape = boxes_.shape(box);
    std::uint32_t sectors = 0, requests = 0;
    if (!open.late()) {
        const Share share = within_hit(reached, open);
        sectors = share_of(shape.sectors, share);
        requests = share_of(shape.requests, share);
    } else {
        for (std::uint32_t home = 0; home < kMostHomes; ++home) {
            const Share share = joins(reached, open, part(box.region, partition, home), home);
            sectors += share_of(shape.part[home].sectors, share);
            requests += share_of(shape.part[home].requests, share);
        }
    }
    if (sectors == 0) return false;
    const bool most = 2 * sectors >= shape.sectors;
    // What has been let go of since is missed as a whole, what has landed of it included.
    if (!most && !all_held(box.region, partition)) return false;
    events_[Event::MergedSectors] += sectors;
    events_[Event::TexRequests] -= requests;  // see events()
    if (!most) return false;
    ++open.requesters;
    if (reached < open.looked_up) {  // left later, but is nearer
        open.closes -= open.looked_up - reached;
        open.looked_up = reached;
        if (!open.late()) open.done = reached + t_.hit;
    }
    return true;
}

// The share of a part's lines whose entries are still open: those on their way since it was opened, and of
// those that were there a hit's window.
Share TileL2::joins(Picoseconds now, const Entry& entry, const Part& there, std::size_t home) const {
    const Share then = entry.pending[home];
    const Share landing = then == 0 ? 0 : std::min(then, pending(now, there));
    return landing + share_of(kAll - then, within_hit(now, entry));
}

// A resident line's entry lives until it hits; the ways from two SMs to a slice differ by up to hit_ramp_.
Share TileL2::within_hit(Picoseconds now, const Entry& entry) const {
    const Picoseconds left = entry.closes - now;
    if (left <= 0) return 0;
    if (left >= 2 * hit_ramp_) return kAll;
    return static_cast<Share>(left * kAll / (2 * hit_ramp_));
}

// A share of a part is not in the requester's partition: it comes from DRAM, or from its home.
void TileL2::miss(Picoseconds looked_up, const Box& box, std::uint32_t partition, std::uint32_t home,
                  Share share) {
    const BoxPart& asked = boxes_.shape(box).part[home];
    const bool after = held(box.before, partition, home);
    const std::uint32_t missed = share_of(after ? asked.missed_after : asked.missed, share);
    const std::uint32_t fetched = share_of(after ? asked.fetched_after : asked.fetched, share);
    events_[Event::TexReadMisses] += missed;
    events_[Event::TexReadPromoted] += fetched - missed;
    hold(box.region, partition, home, asked.lines);
    if (home == partition) {
        ask_dram(looked_up + t_.miss, box, home, fetched, share);
    } else {
        ask_home(looked_up + t_.miss + t_.fabric_request, box, home, fetched, share);
    }
}

// A share of a part's lines is looked up at its home, for the other partition, from `at` on.
void TileL2::ask_home(Picoseconds at, const Box& box, std::uint32_t home, std::uint32_t sectors,
                      Share share) {
    const BoxPart& asked = boxes_.shape(box).part[home];
    Part& copy = part(box.region, home ^ 1u, home);
    copy.sectors = sectors;
    copy.filling = static_cast<std::uint16_t>(share);
    const Picoseconds looked_up =
        look_up(home, at, box.shape, turns_[box.shape].part[home].tag * share / kAll);
    events_[Event::FabricRequests] += share_of(asked.requests, share);
    events_[Event::FabricReadSectors] += sectors;
    const Share not_there = missing(box.region, home, home);
    if (not_there == 0) {
        events_[Event::FabricReadHits] += sectors;
        slices_[home].log.use(unit_of(box.region, home));
    } else {
        const std::uint32_t whole = held(box.before, home, home) ? asked.fetched_after : asked.fetched;
        const std::uint32_t fetched = std::min(sectors, share_of(whole, not_there));
        events_[Event::FabricReadMisses] += fetched;
        events_[Event::FabricReadHits] += sectors - fetched;
        hold(box.region, home, home, asked.lines);
        ask_dram(looked_up + t_.miss, box, home, fetched, not_there);
        part(box.region, home, home).far_at = looked_up;
    }
    reply(looked_up + t_.hit, box, home);
}

// The home's lines leave for the copy as they are there, from `found` on.
void TileL2::reply(Picoseconds found, const Box& box, std::uint32_t home) {
    const PartTurns& turns = turns_[box.shape].part[home];
    const BoxPace& pace = paces_.of(box.shape);
    const Part& there = part(box.region, home, home);
    Part& copy = part(box.region, home ^ 1u, home);
    const Picoseconds first = std::max(found, there.opens), last = std::max(found, there.last);
    const Flows::Span span = flows_.span(first - pace.half_span, last + pace.half_span);
    if (!machine_.l2.replies_apart) flows_.add(output_of(home), span, turns.output * copy.filling / kAll);
    flows_.add(fabric_of(home), span, turns.fabric * copy.filling / kAll);
    copy.queued = found;
    copy.of_fetch = there.fetch;
    copy.expected = true;
    ++copy.fetch;
    // Of lines that come from DRAM those are last that have waited for a refresh.
    const double fewer = there.last > found ? log_lines_per_refreshed_ : 0;
    const double log_lines = turns.log_lines + static_cast<double>(log_share_[copy.filling]) - fewer;
    copy.wait = static_cast<std::int32_t>(
        beyond_mean(fabric_of(home), last, kSectorsPerLine * t_.fabric_sector, log_lines));
    leave_home(copy, there, home, box.shape);
}

// How much longer than in the mean the last of so many lines waits at one of a partition's servers, the
// fullest slice's, which takes `service` for each.
Picoseconds TileL2::beyond_mean(std::size_t server, Picoseconds at, Picoseconds service, double log_lines) {
    const double load = flows_.load(server, at);
    const double scale = static_cast<double>(service) * fullest_.scale(load);
    return scale > 0 ? curve_.slowest(log_lines + fullest_.log_waiting(load), scale, random_) : 0;
}

// A box of the home's own SMs is there before what the other partition has asked for, though that had left
// first: it is the one that misses, and what it brings is on its way by so much sooner.
void TileL2::be_first(Picoseconds looked_up, const Box& box, std::uint32_t home) {
    const BoxPart& asked = boxes_.shape(box).part[home];
    Part& there = part(box.region, home, home);
    const Part& copy = part(box.region, home ^ 1u, home);
    const std::uint32_t fetched = std::min(copy.sectors, share_of(asked.fetched, there.filling));
    events_[Event::FabricReadMisses] -= fetched;
    events_[Event::FabricReadHits] += fetched;
    events_[Event::TexReadMisses] += std::min(asked.missed, fetched);
    events_[Event::TexReadPromoted] += fetched - std::min(asked.missed, fetched);
    const Picoseconds sooner = there.far_at - looked_up;
    there.opens -= sooner;
    there.last -= sooner;
    there.queued -= sooner;
    there.far_at = 0;
}

void TileL2::write(Picoseconds now, std::uint32_t id, std::uint32_t gpc) {
    const Box& box = boxes_.at(id);
    const BoxShape& shape = boxes_.shape(box);
    const std::uint32_t partition = partition_of_gpc_[gpc];
    events_[Event::TexRequests] += shape.requests;
    events_[Event::TexWriteSectors] += shape.sectors;
    for (std::uint32_t home = 0; home < kMostHomes; ++home) {
        const BoxPart& written = shape.part[home];
        if (written.requests == 0) continue;
        const PartTurns& turns = turns_[box.shape].part[home];
        const Picoseconds looked_up = look_up(partition, now, box.shape, turns.tag_write);
        if (home == partition) {
            store(looked_up, box, home, false);
            continue;
        }
        keep_copy(looked_up, box.region, partition, home, written);
        const Picoseconds half = paces_.of(box.shape).half_span;
        flows_.add(fabric_of(partition), flows_.span(looked_up - half, looked_up + half), turns.fabric);
        wheel_.push(looked_up + t_.fabric_request, {box.id, partition, TileEvent::Kind::HomeWrite});
    }
}

void TileL2::home_write(Picoseconds now, std::uint32_t id, std::uint32_t from) {
    const Box& box = boxes_.at(id);
    const std::uint32_t home = from ^ 1u;
    const BoxPart& written = boxes_.shape(box).part[home];
    events_[Event::FabricRequests] += written.requests;
    events_[Event::FabricWriteSectors] += written.sectors;
    store(look_up(home, now, box.shape, turns_[box.shape].part[home].tag_write), box, home, true);
}

// Writes to the home. What is not wholly written and not there is fetched first.
void TileL2::store(Picoseconds looked_up, const Box& box, std::uint32_t home, bool far) {
    const BoxPart& written = boxes_.shape(box).part[home];
    const Share share = missing(box.region, home, home);
    Slices& slices = slices_[home];
    Part& there = part(box.region, home, home);
    if (share == 0) {
        slices.log.use(unit_of(box.region, home));
    } else {
        hold(box.region, home, home, written.lines);
        const std::uint32_t fetched = share_of(written.partial, share);
        if (fetched > 0) {
            ask_dram(looked_up + t_.miss, box, home, fetched, share);
            events_[far ? Event::FabricReadMisses : Event::TexWriteMisses] += fetched;
        } else if (looked_up >= there.last) {
            there.opens = there.last = looked_up;
        }
    }
    const std::uint32_t unit = unit_of(box.region, home);
    if (slices.log.written(unit)) {  // and waits to be written back already, but for what has left since
        const std::uint32_t sectors = std::max(there.sectors, written.sectors);
        slices.dirty.put_back(sectors - there.sectors);
        there.sectors = sectors;
        return;
    }
    slices.log.mark_written(unit, true);
    there.sectors = written.sectors;
    slices.dirty.add(unit, written.sectors);
    slices.dirty.clean_beyond([&](std::uint32_t oldest) {
        Part& waiting = part(oldest / kMostHomes, home, oldest % kMostHomes);
        const std::uint32_t sectors = slices.log.written(oldest) ? waiting.sectors : 0;
        slices.log.mark_written(oldest, false);
        write_back(waiting, home, sectors);
        return sectors;
    });
}

// What was written on its way to the other home hits when it is read again here.
void TileL2::keep_copy(Picoseconds now, std::uint32_t region, std::uint32_t partition, std::uint32_t home,
                       const BoxPart& written) {
    if (missing(region, partition, home) == 0) {
        slices_[partition].log.use(unit_of(region, home));
        return;
    }
    hold(region, partition, home, written.lines);
    Part& copy = part(region, partition, home);
    if (now < copy.last) return;
    copy.opens = copy.last = now;
}

// Makes a part the youngest unit of its partition.
void TileL2::hold(std::uint32_t region, std::uint32_t partition, std::uint32_t home, std::uint32_t lines) {
    slices_[partition].log.hold(
        unit_of(region, home), lines,
        [this, partition](std::uint32_t unit, std::uint32_t holders) { let_go(unit, partition, holders); });
}

// One of the `holders` classes of sets that hold a unit lets go of its share, which waits to be written back.
void TileL2::let_go(std::uint32_t unit, std::uint32_t partition, std::uint32_t holders) {
    Part& gone = part(unit / kMostHomes, partition, unit % kMostHomes);
    const std::uint32_t sectors = gone.sectors / std::max(holders, 1u);
    slices_[partition].dirty.remove(sectors);
    write_back(gone, partition, sectors);
}

// The entry's data takes its turns at the ports.
void TileL2::answer(Picoseconds now, const Entry& entry, Picoseconds queued) {
    const Stream stream = stream_of(entry);
    flows_.add(output_of(partition_of_gpc_[entry.gpc]), flows_.span(stream.from, stream.to),
               turns_[entry.shape].output);
    // What waits for the slices' outputs comes later.
    const Picoseconds way = t_.slice_to_sm + queued;
    flows_.add(port_of(entry.gpc), flows_.span(std::max(now, stream.from) + way, stream.to + way),
               turns_[entry.shape].gpc_port);
}

// Most lines of a box that comes from DRAM are there long before the last: their mean is one mean wait
// behind the first.
TileL2::Stream TileL2::stream_of(const Entry& entry) const {
    const Picoseconds half_span = paces_.of(entry.shape).half_span;
    if (!entry.late()) return {entry.done - half_span, entry.done + half_span};
    const Picoseconds from = std::min(entry.opens, entry.done);
    return {from - half_span, std::min(entry.done, from + 2 * dram_wait_) + half_span};
}

}  // namespace l2lens
