// SPDX-License-Identifier: Apache-2.0
#include "memory/timing.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "memory/event_wheel.hpp"

namespace l2lens {

MemoryTiming MemoryTiming::of(const Machine& machine, double lines_per_simulated_line, std::uint64_t seed) {
    const double l2_cycle_ns = 1.0 / machine.clock.l2_ghz;
    const auto& latency = machine.latency;
    const auto& bandwidth = machine.bandwidth;
    MemoryTiming t{};
    t.tag = from_ns(l2_cycle_ns / bandwidth.tag_requests_per_l2_cycle);
    t.tag_write = from_ns(l2_cycle_ns / bandwidth.write_requests_per_l2_cycle);
    t.output_sector = from_ns(l2_cycle_ns / bandwidth.output_sectors_per_l2_cycle);
    constexpr Picoseconds kNoLimit = Picoseconds{1} << 60;
    const int tag_queue = machine.l2.tag_queue_requests;
    t.tag_queue = tag_queue > 0 ? tag_queue * t.tag : kNoLimit;
    const int queue = machine.l2.queue_lines;
    t.queue = queue > 0 ? queue * kSectorsPerLine * t.output_sector : kNoLimit;
    const double way = bandwidth.gpc_way_bytes_per_ns;
    for (int sectors = 0; way > 0 && sectors <= kSectorsPerLine; ++sectors)
        t.gpc_way[static_cast<std::size_t>(sectors)] = static_cast<Picoseconds>(
            (sectors * kSectorBytes + bandwidth.answer_overhead_bytes) * (kPsPerNs / way));
    const int gpc_queue = way > 0 ? machine.l2.gpc_queue_lines : 0;
    t.gpc_queue = gpc_queue > 0 ? gpc_queue * t.gpc_way[kSectorsPerLine] : kNoLimit;
    const int far_lines = machine.l2.far_lines;
    t.far_lines = far_lines > 0 ? far_lines : std::numeric_limits<int>::max();
    t.fabric_sector =
        machine.partitions > 1 ? from_ns(l2_cycle_ns / bandwidth.fabric_sectors_per_l2_cycle) : 0;
    t.dram_sector = from_ns(kSectorBytes * machine.slices() / bandwidth.dram_bytes_per_ns);
    const Machine::LastLevel& last = machine.last_level;
    t.last_level_sector = last.bytes > 0 ? from_ns(kSectorBytes * machine.slices() / last.bytes_per_ns) : 0;
    t.last_level = from_ns(last.latency_ns);
    t.hit = from_ns(latency.hit_l2_cycles * l2_cycle_ns);
    t.miss = from_ns(latency.tag_ns);
    t.fabric_request = from_ns(latency.fabric_request_ns);
    t.fabric_reply = from_ns(latency.fabric_reply_ns);
    t.dram = from_ns(latency.dram_ns);
    t.dram_jitter_ps = latency.dram_jitter_ns * 1000.0;
    t.dram_queue_ps = latency.dram_queue_ns * 1000.0;
    t.dram_load = latency.dram_load;
    t.dram_backlog_ps = latency.dram_backlog_ns * 1000.0;
    t.refresh = Refresh(from_ns(latency.dram_refresh_ns), latency.dram_refresh_share,
                        latency.dram_refresh_groups, lines_per_simulated_line);
    t.dram_write = from_ns(latency.dram_write_ns);
    t.pause = DramPause(from_ns(latency.dram_pause_ns), from_ns(latency.dram_pause_every_us * 1000), seed);
    t.turn = DramTurn(from_ns(latency.dram_turn_ns), latency.dram_turn_lines, t.dram_sector);
    // A box is complete when its slowest line is: the maximum of n exponentials has mean ln n + 0.577. A box
    // of which only every F-th line is simulated misses ln F of it. That is time of the box, not of its
    // lines: they take no place in a slice meanwhile.
    t.lines_per_simulated_line = lines_per_simulated_line;
    t.late_jitters = std::log(lines_per_simulated_line);
    t.late_refreshed = std::log(std::max(lines_per_simulated_line * t.refresh.share(), 1.0));
    constexpr double kNeverLong = 1e18;
    t.dram_spread_ps = latency.dram_spread_ns > 0 ? latency.dram_spread_ns * 1000.0 : kNeverLong;
    t.sm_to_slice = from_ns(latency.sm_to_slice_ns);
    t.slice_to_sm = from_ns(latency.slice_to_sm_ns);
    return t;
}

Picoseconds exchange_window(const Machine& machine) {
    const MemoryTiming t = MemoryTiming::of(machine);
    const Picoseconds shortest = std::min(t.sm_to_slice, t.slice_to_sm);
    constexpr Picoseconds kBucket = Picoseconds{1} << kBucketShift;
    return std::max(shortest / kBucket * kBucket, kBucket);
}

}  // namespace l2lens
