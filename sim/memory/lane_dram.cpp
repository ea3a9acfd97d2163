// SPDX-License-Identifier: Apache-2.0
// A lane's side of the memory: what its slices miss is read, and what they give up is written back.
#include <algorithm>

#include "memory/lane.hpp"
#include "memory/service.hpp"

namespace l2lens {

Picoseconds Lane::drained() const {
    Picoseconds last = 0;
    for (const Slice& slice : slices_) last = std::max(last, slice.dram_free);
    return last;
}

void Lane::write_back(Picoseconds now, Slice& slice, SectorCache::Cleaned sectors) {
    if (sectors.dirty == 0) return;
    const int written = count(sectors.dirty), fetched = count(sectors.incomplete);
    events_[Event::WritebackSectors] += static_cast<std::uint64_t>(written);
    events_[Event::FillSectors] += static_cast<std::uint64_t>(fetched);
    const Picoseconds work = (written + fetched) * t_.dram_sector;
    take_turn(slice.dram_free, t_.pause.after(std::max(now, slice.dram_free)), work);
    slice.writes.add(now, t_.dram_write, slice.dram_load.add(now, work));
    slice.dram_turns.write(t_.turn, slice.dram_free, written, work);
}

// Who misses at home is served in the order in which it came. What is far waits in its own partition, until
// less of it is on its way over the fabric, so what is near waits as long as the one that waits there first
// has waited for that (not for its slice's output, which is nothing to its home), but only behind what is
// missing, too (traces/h200/sides.csv, one_wave.csv).
Picoseconds Lane::wait_for_older(const Slice& home, Picoseconds now) const {
    if (!model_.machine.l2.misses_in_order) return 0;
    Picoseconds longest = 0;
    for (const Slice& slice : slices_) {
        const Entrance& far = slice.entrances.back();
        if (&slice == &home || far.lookups.empty()) continue;
        const Picoseconds until = is_shut(slice, far) ? now : slice.far_opened;
        longest = std::max(longest, until - far.lookups.at(0).since);
    }
    return static_cast<Picoseconds>(home.far_misses.share() * static_cast<double>(longest));
}

// What a slice misses: from the cache in front of the memory, if there is one, else from the memory. When
// the last of it has arrived.
Lane::Arrival Lane::fetch_sectors(Slice& slice, LineNumber line, Picoseconds from, SectorMask sectors,
                                  Picoseconds older) {
    if (!last_level_) return read_dram(slice, line, from, count(sectors), older);
    const LastLevelCache::Found found = last_level_->read(line, sectors);
    last_level_had_ = found.sectors;
    events_[Event::LastLevelSectors] += static_cast<std::uint64_t>(count(sectors));
    events_[Event::LastLevelHits] += static_cast<std::uint64_t>(count(found.sectors));
    take_turn(slice.last_level_free, from, count(sectors) * t_.last_level_sector);
    const Picoseconds had = slice.last_level_free + t_.last_level;
    Arrival arrival{std::max(had, found.line.ready()), std::max(had, found.line.settled())};
    if (const auto missing = static_cast<SectorMask>(sectors & ~found.sectors); missing != 0) {
        const Arrival read = read_dram(slice, line, slice.last_level_free, count(missing), older);
        arrival = {std::max(arrival.ready, read.ready), std::max(arrival.settled, read.settled)};
        found.line.add(missing);
        found.line.arrives(arrival.ready, arrival.settled);
    }
    return arrival;
}

// What a line waits for besides its turn it waits for meanwhile: its bank's queue and refresh are not the
// slice's, and are over sooner than a long line before the slice; who is older stands in that line, too.
Lane::Arrival Lane::read_dram(Slice& slice, LineNumber line, Picoseconds from, int sectors,
                              Picoseconds older) {
    events_[Event::FillSectors] += static_cast<std::uint64_t>(sectors);
    const Picoseconds work = sectors * t_.dram_sector;
    const Picoseconds begins =
        take_turn(slice.dram_free, t_.pause.after(std::max(from, slice.dram_free)), work);
    const Picoseconds in_line = begins - from;
    const auto after_line = [&](Picoseconds wait) { return std::max<Picoseconds>(wait - in_line, 0); };
    const MemoryTiming::DramWait wait = t_.wait(slice.dram_load.add(from, work));
    const std::uint64_t drawn = random_.next();
    const Refresh::Waits refresh = t_.refresh.wait(from, line, drawn);
    const auto quantile = static_cast<double>(model_.exponential[drawn >> 52]);
    const auto queued = static_cast<Picoseconds>(wait.least_ps + wait.jitter_ps * quantile);
    const Picoseconds ready = slice.dram_free + t_.dram + after_line(queued + older);
    const Picoseconds own =
        after_line(wait.behind(refresh.own)) + wait.behind(slice.dram_turns.rest(slice.dram_free));
    const Picoseconds others = after_line(wait.behind(refresh.others));
    return {ready + own, ready + std::max(own, slowest_of_others(slice, wait, others, drawn))};
}

// Of the lines that a simulated one stands for, beside itself: how much longer than it the slowest takes, if
// those that find a refresh wait `refreshed` for it. Twelve random bits, the upper ones of 40.
Picoseconds Lane::slowest_of_others(Slice& slice, const MemoryTiming::DramWait& wait, Picoseconds refreshed,
                                    std::uint64_t random) {
    const double others = t_.lines_per_simulated_line - 1;
    if (others <= 0) return 0;
    const double written = slice.dram_turns.load(slice.dram_free);
    const auto quantile = static_cast<double>(model_.exponential[random >> 28 & 0xFFF]);
    const auto slowest = [&](double lines, double jitters) {
        return t_.turn.slowest(lines, written, quantile, wait.backlog_ps) +
               static_cast<Picoseconds>(wait.jitter_ps * jitters);
    };
    const Picoseconds any = slowest(others, t_.late_jitters);
    if (refreshed == 0) return any;
    // Those that wait for a refresh are fewer, here one at least.
    const double fewer = std::max(others * t_.refresh.share(), 1.0);
    return std::max(any, refreshed + slowest(fewer, t_.late_refreshed));
}

}  // namespace l2lens
