// SPDX-License-Identifier: Apache-2.0
#include "tile/tile_l2.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

namespace l2lens {
namespace {

// Entries to begin with: more than are open at a time.
constexpr std::size_t kEntriesOfSlot = 12;

MemoryTiming timing_of(const Machine& machine, Picoseconds way_in) {
    MemoryTiming timing = MemoryTiming::of(machine);
    timing.slice_to_sm += way_in;
    return timing;
}

}  // namespace

TileL2::TileL2(const Machine& machine, const BoxTable& boxes, const BoxPaces& paces, int ctas_per_sm,
               double lines_per_line, std::uint64_t seed, TileWheel& wheel)
    : machine_(machine),
      boxes_(boxes),
      paces_(paces),
      wheel_(wheel),
      way_in_(from_ns(machine.latency.sm_to_slice_ns +
                      machine.latency.load_issue_cycles / machine.clock.sm_max_ghz)),
      t_(timing_of(machine, way_in_)),
      dram_jitter_(static_cast<Picoseconds>(t_.dram_jitter_ps)),
      dram_opens_(t_.dram + static_cast<Picoseconds>(t_.dram_jitter_ps * std::log(lines_per_line))),
      dram_sector_(static_cast<double>(t_.dram_sector) / machine.l2.slices_per_partition),
      hit_ramp_(
          static_cast<Picoseconds>(machine.latency.slice_spread_cycles * 1000.0 / machine.clock.sm_max_ghz)),
      longest_hit_(t_.hit + hit_ramp_),
      curve_(t_.dram_jitter_ps),
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
    entries_.resize(
        std::bit_ceil(kEntriesOfSlot * machine.sms.size() * static_cast<std::size_t>(ctas_per_sm)));
    landings_.resize(entries_.size());
    for (const BoxShape& shape : boxes.shapes()) {
        ShapeTurns turns;
        for (std::size_t home = 0; home < kMostHomes; ++home) {
            turns.part[home] = turns_of(shape.part[home]);
            turns.tag += turns.part[home].tag;
            turns.output += turns.part[home].output;
        }
        turns.gpc_port = from_ns((shape.sectors * static_cast<double>(kSectorBytes) +
                                  shape.requests * machine.bandwidth.answer_overhead_bytes) /
                                 machine.bandwidth.gpc_bytes_per_ns);
        turns_.push_back(turns);
    }
}

// How many lines the partition would hold if all its sets were as full as those of a class: sets take the
// same number of lines, so the fuller ones see less of the past.
std::array<std::int64_t, kSetClasses> TileL2::capacities() const {
    constexpr double kSeen = 0.5;  // fits the line engine's DRAM fills over traces/h200/gemm.csv
    const std::int64_t all = machine_.partition_bytes() / kLineBytes;
    std::array<std::int64_t, kSetClasses> lines{};
    for (std::size_t c = 0; c < kSetClasses; ++c) {
        const double fullness = 1 + kSeen * (boxes_.set_fullness()[c] - 1);
        lines[c] = std::llround(static_cast<double>(all) / fullness);
    }
    return lines;
}

// A partition's slices work side by side, each on its share of the lines.
TileL2::Turns TileL2::turns_of(const BoxPart& part) const {
    const double slices = machine_.l2.slices_per_partition;
    const auto turn = [&](std::uint32_t n, Picoseconds each) {
        return static_cast<Picoseconds>(std::lround(n * static_cast<double>(each) / slices));
    };
    Turns turns;
    turns.requests = part.requests;
    turns.tag = turn(part.requests, t_.tag);
    turns.tag_write = turn(part.requests, t_.tag_write);
    turns.output = turn(part.sectors, t_.output_sector);
    turns.fabric = turn(part.fetched, t_.fabric_sector);
    turns.dram = turn(part.fetched, t_.dram_sector);
    turns.log_lines = std::log(std::max(1.0, static_cast<double>(part.requests)));
    return turns;
}

Picoseconds TileL2::read(Picoseconds now, Picoseconds reached, std::uint32_t id, std::uint32_t gpc,
                         Landing landing) {
    const Box& box = boxes_.at(id);
    const std::uint32_t partition = partition_of_gpc_[gpc];
    const std::uint64_t key = static_cast<std::uint64_t>(id) * gpcs_ + gpc;
    const bool joins_others = this->joins_others(landing, box);
    if (joins_others) {
        const std::uint32_t last = opened_[key];
        const Entry& open = entries_[last];
        if (open.key == key && open.requesters < max_requesters_ && !over(open, reached) &&
            join(reached, box, partition, last, landing))
            return open.unresolved == 0 ? last_at_gpc(open) : kUnknown;
    }

    // Its own lookup, in the requester's own partition.
    const std::uint32_t index = take_entry();
    if (joins_others) opened_[key] = index;
    Entry& entry = entries_[index];
    const ShapeTurns& turns = turns_[box.shape];
    entry.looked_up = look_up(partition, reached, box.shape, turns.tag);
    entry.opens = kUnknown;
    entry.done = entry.looked_up + t_.hit;
    entry.key = key;
    entry.shape = box.shape;
    entry.gpc = static_cast<std::uint8_t>(gpc);
    entry.requesters = 1;
    entry.unresolved = 0;
    entry.pending = {};
    if (all_there(reached, box.region, partition)) {
        slices_[partition].log.use(unit_of(box.region, 0));
        slices_[partition].log.use(unit_of(box.region, 1));
    } else {
        look_for_parts(reached, id, partition, index);
    }
    if (!entry.late()) {
        const Picoseconds half = paces_.of(box.shape).half_span;
        flows_.add(output_of(partition), flows_.span(entry.done - half, entry.done + half), turns.output);
    }
    if (entry.unresolved != 0) {
        landings_[index][0] = landing;
        return kUnknown;
    }
    answer(now, entry);
    return last_at_gpc(entry);
}

// Are the lines of both homes held, and landed?
bool TileL2::all_there(Picoseconds reached, std::uint32_t region, std::uint32_t partition) const {
    static_assert(kMostHomes == 2);
    const auto& parts = parts_[parts_index(region, partition)].of_home;
    const RecencyLog& log = slices_[partition].log;
    const std::uint32_t holding = log.holding(unit_of(region, 0)) & log.holding(unit_of(region, 1));
    return holding == kSetClasses && reached >= std::max(parts[0].last, parts[1].last);
}

// What of the box is not there is asked for; the entry waits for it and for what is on its way.
void TileL2::look_for_parts(Picoseconds reached, std::uint32_t id, std::uint32_t partition,
                            std::uint32_t index) {
    const Box& box = boxes_.at(id);
    Entry& entry = entries_[index];
    for (std::uint32_t home = 0; home < kMostHomes; ++home) {
        if (turns_[box.shape].part[home].requests == 0) continue;
        const Share share = missing(box.region, partition, home);
        if (share == 0) {
            slices_[partition].log.use(unit_of(box.region, home));
        } else {
            miss(entry.looked_up, id, partition, home, share);
        }
        Part& there = part(box.region, partition, home);
        const Share landing_share = pending(reached, there);
        if (landing_share == 0) continue;
        entry.pending[home] = static_cast<std::uint16_t>(landing_share);
        await(index, home, there);
    }
}

// Merges what can be merged with an open entry's requests; true when that is most of the box. The rest are
// lookups that hit.
bool TileL2::join(Picoseconds reached, const Box& box, std::uint32_t partition, std::uint32_t index,
                  Landing landing) {
    Entry& open = entries_[index];
    const BoxShape& shape = boxes_.shape(box);
    std::uint32_t sectors = 0, requests = 0;
    if (!open.late()) {
        const Share share = within_hit(reached - open.looked_up);
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
    events_[Event::MergedSectors] += sectors;
    events_[Event::TexRequests] -= requests;  // see events()
    if (2 * sectors < shape.sectors) return false;
    const std::size_t place = open.requesters++;
    if (reached < open.looked_up) {  // left later, but is nearer
        open.looked_up = reached;
        if (!open.late()) open.done = reached + t_.hit;
    }
    if (open.unresolved != 0) landings_[index][place] = landing;
    return true;
}

// The share of a part's lines whose entries are still open: those on their way since it was opened, and of
// those that were there a hit's window.
Share TileL2::joins(Picoseconds now, const Entry& entry, const Part& there, std::size_t home) const {
    const Share then = entry.pending[home];
    const Share landing = then == 0 ? 0 : std::min(then, pending(now, there));
    return landing + share_of(kAll - then, within_hit(now - entry.looked_up));
}

// A resident line's entry lives for the time of a hit; the ways from two SMs to a slice differ by up to
// hit_ramp_.
Share TileL2::within_hit(Picoseconds since_lookup) const {
    const Picoseconds left = t_.hit + hit_ramp_ - since_lookup;
    if (left <= 0) return 0;
    if (left >= 2 * hit_ramp_) return kAll;
    return static_cast<Share>(left * kAll / (2 * hit_ramp_));
}

// The entry that was opened longest ago, of those whose data's time is known. By then it is over: there are
// twice as many as wait.
std::uint32_t TileL2::take_entry() {
    const std::size_t size = entries_.size();
    for (std::size_t waiting = 0; waiting < size / 2; ++waiting) {
        const std::size_t index = next_entry_++ & (size - 1);
        if (entries_[index].unresolved == 0) return static_cast<std::uint32_t>(index);
    }
    entries_.resize(2 * size);
    landings_.resize(2 * size);
    next_entry_ = static_cast<std::uint32_t>(size);
    return next_entry_++;
}

// A share of a part is not in the requester's partition: it comes from DRAM, or from its home.
void TileL2::miss(Picoseconds looked_up, std::uint32_t id, std::uint32_t partition, std::uint32_t home,
                  Share share) {
    const Box box = boxes_.at(id);
    const BoxPart& asked = boxes_.shape(box).part[home];
    const bool after = held(box.before, partition, home);
    const std::uint32_t missed = share_of(after ? asked.missed_after : asked.missed, share);
    const std::uint32_t fetched = share_of(after ? asked.fetched_after : asked.fetched, share);
    events_[Event::TexReadMisses] += missed;
    events_[Event::TexReadPromoted] += fetched - missed;
    hold(box.region, partition, home, asked.lines);
    if (home == partition) {
        ask_dram(looked_up + t_.miss, id, home, fetched, share);
        return;
    }
    Part& there = part(box.region, partition, home);
    expect(there, share);
    there.sectors = fetched;
    wheel_.push(looked_up + t_.miss + t_.fabric_request, {id, partition, TileEvent::Kind::HomeLookup});
}

void TileL2::expect(Part& part, Share share) {
    part.awaited = true;
    part.opens = part.last = kUnknown;
    part.filling = static_cast<std::uint16_t>(share);
}

void TileL2::await(std::uint32_t index, std::uint32_t home, Part& there) {
    Entry& entry = entries_[index];
    if (there.awaited) {
        ++entry.unresolved;
        entry.next_waiting[home] = there.first_waiting;
        there.first_waiting = static_cast<std::int32_t>(index);
    } else {
        entry.opens = std::min(entry.opens, there.opens);
        entry.done = std::max(entry.done, there.last);
    }
}

// Sends a share of a part's lines to DRAM.
void TileL2::ask_dram(Picoseconds at, std::uint32_t id, std::uint32_t home, std::uint32_t sectors,
                      Share share) {
    const Box box = boxes_.at(id);
    Part& there = part(box.region, home, home);
    events_[Event::FillSectors] += sectors;
    const Picoseconds half = paces_.of(box.shape).half_span;
    flows_.add(dram_of(home), flows_.span(at - half, at + half),
               turns_[box.shape].part[home].dram * share / kAll);
    expect(there, share);
    wheel_.push(at - paces_.of(box.shape).first_step_to_middle(), {id, home, TileEvent::Kind::Fetch});
}

// DRAM's queue as the last line has found it gives the time at which the part lands.
void TileL2::fetch(Picoseconds now, std::uint32_t id, std::uint32_t home) {
    const Box box = boxes_.at(id);
    Part& there = part(box.region, home, home);
    const Picoseconds turn =
        now + paces_.of(box.shape).first_step_to_middle() + flows_.backlog(dram_of(home), now);
    const double log_lines =
        turns_[box.shape].part[home].log_lines + static_cast<double>(log_share_[there.filling]);
    const Picoseconds last = turn + t_.dram + curve_.slowest(log_lines, random_);
    there.awaited = false;
    there.opens = turn + dram_opens_;
    there.last = std::max(last, there.opens + 1);
    resolve(now, there, home);
    if (!there.copy_waits) return;
    there.copy_waits = false;
    reply(there.opens, id, home ^ 1u);
}

void TileL2::home_lookup(Picoseconds now, std::uint32_t id, std::uint32_t asking) {
    const Box box = boxes_.at(id);
    const std::uint32_t home = asking ^ 1u;
    const BoxPart& asked = boxes_.shape(box).part[home];
    const Part& copy = part(box.region, asking, home);
    Part& there = part(box.region, home, home);
    Slices& slices = slices_[home];
    const Picoseconds looked_up =
        look_up(home, now, box.shape, turns_[box.shape].part[home].tag * copy.filling / kAll);
    events_[Event::FabricRequests] += share_of(asked.requests, copy.filling);
    events_[Event::FabricReadSectors] += copy.sectors;
    const Share share = missing(box.region, home, home);
    if (share == 0) {
        events_[Event::FabricReadHits] += copy.sectors;
        slices.log.use(unit_of(box.region, home));
    } else {
        const std::uint32_t whole = held(box.before, home, home) ? asked.fetched_after : asked.fetched;
        const std::uint32_t fetched = std::min(copy.sectors, share_of(whole, share));
        events_[Event::FabricReadMisses] += fetched;
        events_[Event::FabricReadHits] += copy.sectors - fetched;
        hold(box.region, home, home, asked.lines);
        ask_dram(looked_up + t_.miss, id, home, fetched, share);
    }
    if (there.awaited) {
        there.copy_waits = true;
    } else {
        reply(looked_up + t_.hit, id, asking);
    }
}

// The home's lines leave for the copy as they are there, from `found` on.
void TileL2::reply(Picoseconds found, std::uint32_t id, std::uint32_t asking) {
    const Box box = boxes_.at(id);
    const std::uint32_t home = asking ^ 1u;
    const Picoseconds half = paces_.of(box.shape).half_span;
    const Turns& turns = turns_[box.shape].part[home];
    const Part& there = part(box.region, home, home);
    Part& copy = part(box.region, asking, home);
    const Picoseconds first = std::max(found, there.opens), last = std::max(found, there.last);
    copy.opens = first + t_.fabric_reply;
    copy.last = copy.opens + std::max<Picoseconds>(last - first, 1);
    const Flows::Span span = flows_.span(first - half, last + half);
    flows_.add(output_of(home), span, turns.output * copy.filling / kAll);
    flows_.add(fabric_of(home), span, turns.fabric * copy.filling / kAll);
    wheel_.push(last - paces_.of(box.shape).first_step_to_middle(), {id, asking, TileEvent::Kind::HomeReply});
}

// The last line is ready to leave its home, and now waits for its slice's output port and the fabric.
void TileL2::home_reply(Picoseconds now, std::uint32_t id, std::uint32_t asked) {
    const Box box = boxes_.at(id);
    const std::uint32_t home = asked ^ 1u;
    Part& copy = part(box.region, asked, home);
    const Picoseconds wait =
        std::max(flows_.backlog(output_of(home), now), flows_.backlog(fabric_of(home), now));
    const Picoseconds last = now + paces_.of(box.shape).first_step_to_middle() + wait + t_.fabric_reply;
    copy.last = std::max(last, copy.opens + 1);
    copy.awaited = false;
    resolve(now, copy, home);
}

// It is known when a part will have landed.
void TileL2::resolve(Picoseconds now, Part& there, std::uint32_t home) {
    for (std::int32_t i = there.first_waiting; i >= 0;) {
        Entry& entry = entries_[static_cast<std::size_t>(i)];
        const Landings& landings = landings_[static_cast<std::size_t>(i)];
        i = entry.next_waiting[home];
        entry.opens = std::min(entry.opens, there.opens);
        entry.done = std::max(entry.done, there.last);
        if (--entry.unresolved != 0) continue;
        answer(now, entry);
        const Picoseconds at = last_at_gpc(entry);
        for (std::size_t n = 0; n < entry.requesters; ++n)
            arrivals_.push_back({at, entry.shape, landings[n]});
    }
    there.first_waiting = -1;
}

void TileL2::write(Picoseconds now, std::uint32_t id, std::uint32_t gpc) {
    const Box box = boxes_.at(id);
    const BoxShape& shape = boxes_.shape(box);
    const std::uint32_t partition = partition_of_gpc_[gpc];
    events_[Event::TexRequests] += shape.requests;
    events_[Event::TexWriteSectors] += shape.sectors;
    for (std::uint32_t home = 0; home < kMostHomes; ++home) {
        const BoxPart& written = shape.part[home];
        if (written.requests == 0) continue;
        const Turns& turns = turns_[box.shape].part[home];
        const Picoseconds looked_up = look_up(partition, now, box.shape, turns.tag_write);
        if (home == partition) {
            store(looked_up, id, home, false);
            continue;
        }
        keep_copy(looked_up, box.region, partition, home, written);
        const Picoseconds half = paces_.of(box.shape).half_span;
        flows_.add(fabric_of(partition), flows_.span(looked_up - half, looked_up + half), turns.fabric);
        wheel_.push(looked_up + t_.fabric_request, {id, partition, TileEvent::Kind::HomeWrite});
    }
}

void TileL2::home_write(Picoseconds now, std::uint32_t id, std::uint32_t from) {
    const Box box = boxes_.at(id);
    const std::uint32_t home = from ^ 1u;
    const BoxPart& written = boxes_.shape(box).part[home];
    events_[Event::FabricRequests] += written.requests;
    events_[Event::FabricWriteSectors] += written.sectors;
    store(look_up(home, now, box.shape, turns_[box.shape].part[home].tag_write), id, home, true);
}

// Writes to the home. What is not wholly written and not there is fetched first.
void TileL2::store(Picoseconds looked_up, std::uint32_t id, std::uint32_t home, bool far) {
    const Box box = boxes_.at(id);
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
            ask_dram(looked_up + t_.miss, id, home, fetched, share);
            events_[far ? Event::FabricReadMisses : Event::TexWriteMisses] += fetched;
        } else if (!there.awaited) {
            there.opens = there.last = looked_up;
        }
    }
    const std::uint32_t unit = unit_of(box.region, home);
    if (slices.log.written(unit)) return;  // and waits to be written back already
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
    if (copy.awaited) return;
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

void TileL2::write_back(Part& written, std::uint32_t partition, std::uint32_t sectors) {
    written.sectors -= sectors;
    events_[Event::WritebackSectors] += sectors;
    flows_.add(dram_of(partition), flows_.span(0, 0), static_cast<Picoseconds>(sectors * dram_sector_));
}

// All that the entry waits for is known: its data takes its turns at the ports.
void TileL2::answer(Picoseconds now, Entry& entry) {
    const Stream stream = stream_of(entry);
    if (entry.late()) {
        flows_.add(output_of(partition_of_gpc_[entry.gpc]), flows_.span(stream.from, stream.to),
                   turns_[entry.shape].output);
    }
    // What waits for the slices' outputs comes later.
    const Picoseconds way = t_.slice_to_sm + flows_.backlog(output_of(partition_of_gpc_[entry.gpc]), now);
    flows_.add(port_of(entry.gpc), flows_.span(std::max(now, stream.from) + way, stream.to + way),
               turns_[entry.shape].gpc_port);
}

// Most lines of a box that comes from DRAM are there long before the last: their mean is one mean jitter
// behind the first.
TileL2::Stream TileL2::stream_of(const Entry& entry) const {
    const Picoseconds half_span = paces_.of(entry.shape).half_span;
    if (!entry.late()) return {entry.done - half_span, entry.done + half_span};
    const Picoseconds from = std::min(entry.opens, entry.done);
    return {from - half_span, std::min(entry.done, from + 2 * dram_jitter_) + half_span};
}

}  // namespace l2lens
