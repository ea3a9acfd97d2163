// SPDX-License-Identifier: Apache-2.0
// The whole boxes' side of the memory: what misses is read from DRAM, and what is given up is written back.
#include <algorithm>
#include <cmath>

#include "tile/tile_l2.hpp"

namespace l2lens {

// Sends a share of a part's lines to DRAM, whose queue as the last line of the first step will find it gives
// the time at which the part lands.
void TileL2::ask_dram(Picoseconds at, const Box& box, std::uint32_t home, std::uint32_t sectors,
                      Share share) {
    Part& there = part(box.region, home, home);
    events_[Event::FillSectors] += sectors;
    const BoxPace& pace = paces_.of(box.shape);
    const PartTurns& turns = turns_[box.shape].part[home];
    const Picoseconds work = turns.dram * share / kAll;
    flows_.add(dram_of(home), flows_.span(at - pace.half_span, at + pace.half_span), work);
    const MemoryTiming::DramWait dram = t_.wait(dram_load_[home].add(at, work));
    there.queued = at - pace.first_step_to_middle();
    const Picoseconds wait = flows_.foresee(dram_of(home), there.queued);
    const Picoseconds turn = t_.pause.after(at + wait);
    const auto queued = static_cast<Picoseconds>(dram.least_ps);
    there.opens = turn + t_.dram + std::max<Picoseconds>(queued - (turn - at), 0);
    there.last = turn + t_.dram + slowest_at_dram(at, turn, home, turns, share, dram, 2 * pace.half_step);
    there.wait = static_cast<std::int32_t>(wait);
    there.filling = static_cast<std::uint16_t>(share);
    there.far_at = 0;
    there.expected = true;
    ++there.fetch;
}

// How much longer than DRAM's latency the slowest of a share of a part's lines takes, which stand in line
// from `at` to `turn`, when their queue and refreshes run, and come over `span`.
Picoseconds TileL2::slowest_at_dram(Picoseconds at, Picoseconds turn, std::uint32_t home,
                                    const PartTurns& turns, Share share, const MemoryTiming::DramWait& dram,
                                    Picoseconds span) {
    const auto after_line = [&](Picoseconds wait) { return std::max<Picoseconds>(wait - (turn - at), 0); };
    const double log_lines = turns.log_lines + static_cast<double>(log_share_[share]);
    const Picoseconds slowest = static_cast<Picoseconds>(dram.least_ps) +
                                std::max<Picoseconds>(curve_.slowest(log_lines, dram.jitter_ps, random_), 1);
    const double lines = turns.lines * static_cast<double>(share) / kAll;
    const double written = dram_writes_[home].add(now_, 0);
    const double quantile = written > 0 ? -std::log(1 - random_.uniform()) : 0;
    const auto turned = [&](double of) { return t_.turn.slowest(of, written, quantile, dram.backlog_ps); };
    const Picoseconds any = std::max<Picoseconds>(after_line(slowest), 1) + turned(lines);
    const Picoseconds refresh = after_line(dram.behind(t_.refresh.longest(at, lines, random_.next())));
    if (refresh == 0) return any;
    // Of those that wait for a refresh, which are fewer, the slowest comes sooner after it, and the last one
    // has come before the last of all: by this within 5 ns, of 32 to 256 lines over 65 ns that were tried.
    const auto sooner = static_cast<Picoseconds>(log_lines_per_refreshed_ * dram.jitter_ps);
    const double waiting = std::max(lines * t_.refresh.share(), 1.0);
    const auto before_last =
        static_cast<Picoseconds>(static_cast<double>(span) / (t_.refresh.per_group(lines) + 1.5));
    return std::max(any, refresh + after_line(slowest - sooner) + turned(waiting) - before_last);
}

void TileL2::write_back(Part& written, std::uint32_t partition, std::uint32_t sectors) {
    written.sectors -= sectors;
    events_[Event::WritebackSectors] += sectors;
    const auto work = static_cast<Picoseconds>(sectors * dram_sector_);
    flows_.add(dram_of(partition), flows_.span(0, 0), work);
    dram_writes_[partition].add(now_, work);
}

Picoseconds TileL2::drained() const {
    Picoseconds longest = 0;
    for (std::size_t partition = 0; partition < slices_.size(); ++partition)
        longest = std::max(longest, flows_.backlog(dram_of(partition), now_));
    return now_ + longest;
}

}  // namespace l2lens
