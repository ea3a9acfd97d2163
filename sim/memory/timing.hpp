// SPDX-License-Identifier: Apache-2.0
// The machine's latencies and bandwidths as picoseconds, once per run.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "base/units.hpp"
#include "machine/machine.hpp"
#include "memory/dram_pause.hpp"
#include "memory/dram_turn.hpp"
#include "memory/refresh.hpp"

namespace l2lens {

struct MemoryTiming {
    Picoseconds tag;            // a slice's tag pipe, per read request
    Picoseconds tag_write;      // per write request
    Picoseconds tag_queue;      // of requests at a slice's tags, beyond which they wait in front
    Picoseconds queue;          // of data at a slice's output, beyond which requests wait in front
    int far_lines;              // on their way to a slice over the fabric, beyond which the next wait
    Picoseconds output_sector;  // a slice's output port
    std::array<Picoseconds, kSectorsPerLine + 1> gpc_way;  // a slice's way into a GPC, of so many sectors
    Picoseconds gpc_queue;          // of data for all of a slice's ways, beyond which requests wait in front
    Picoseconds fabric_sector;      // one slice's share of the fabric, one direction
    Picoseconds dram_sector;        // one slice's share of DRAM
    Picoseconds last_level_sector;  // one slice's share of the cache in front of it
    Picoseconds last_level;
    Picoseconds hit;   // tag -> data of a resident line
    Picoseconds miss;  // tag -> the request that leaves for home or DRAM
    Picoseconds fabric_request;
    Picoseconds fabric_reply;
    Picoseconds dram;        // the constant part of its latency
    double dram_jitter_ps;   // mean of the exponential part, of an idle DRAM
    double dram_queue_ps;    // by which it grows the busier DRAM is
    double dram_load;        // how fast
    double dram_spread_ps;   // longer waits deviate by the root of this times their mean
    Refresh refresh;         // for whose rest lines wait, too
    Picoseconds dram_write;  // of a line that is written back, to a DRAM that is wholly busy
    DramPause pause;
    DramTurn turn;           // to what is written, for whose rest lines that are read wait
    double dram_backlog_ps;  // and for what has come there meanwhile, which grows as the queue does
    double lines_per_simulated_line;
    double late_jitters;    // by so many mean jitters a box settles after its simulated lines
    double late_refreshed;  // and after those of them that wait for a refresh
    Picoseconds sm_to_slice;
    Picoseconds slice_to_sm;

    // A sampled line stands for so many of a box.
    static MemoryTiming of(const Machine& machine, double lines_per_simulated_line = 1,
                           std::uint64_t seed = 0);

    // How much longer than its constant part DRAM's latency is.
    struct DramWait {
        double least_ps;
        double jitter_ps;   // mean of the exponential part, which is added
        double backlog_ps;  // added for who has waited for a refresh or a turn to writes

        // For who waits for the rest of one.
        Picoseconds behind(Picoseconds rest) const {
            return rest > 0 ? rest + static_cast<Picoseconds>(backlog_ps) : 0;
        }
    };

    // When DRAM was busy for `load` of the time lately. A queue at such a load makes whoever comes wait so in
    // the mean, and long waits, being sums of many, vary less than their mean (traces/h200/delays.csv).
    DramWait wait(double load) const {
        const double busy = std::min(load, 1.0);
        const double waiting = busy * busy / (1 - dram_load * busy);
        const double mean = dram_jitter_ps + dram_queue_ps * waiting;
        const double backlog = dram_backlog_ps * waiting;
        if (mean <= dram_spread_ps) return {0, mean, backlog};
        const double jitter = std::sqrt(dram_spread_ps * mean);
        return {mean - jitter, jitter, backlog};
    }
};

// The longest window in which neither side can hear of what the other does in it; a whole number of wheel
// buckets.
Picoseconds exchange_window(const Machine& machine);

}  // namespace l2lens
