// SPDX-License-Identifier: Apache-2.0
// The machine's latencies and bandwidths as picoseconds, once per run.
#pragma once

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "machine/machine.hpp"

namespace l2lens {

struct MemoryTiming {
    Picoseconds tag;                // a slice's tag pipe, per read request
    Picoseconds tag_write;          // per write request
    Picoseconds tag_queue;          // of requests at a slice's tags, beyond which they wait in front
    Picoseconds queue;              // of data at a slice's output, beyond which requests wait in front
    int far_lines;                  // on their way to a slice over the fabric, beyond which the next wait
    Picoseconds output_sector;      // a slice's output port
    Picoseconds fabric_sector;      // one slice's share of the fabric, one direction
    Picoseconds dram_sector;        // one slice's share of DRAM
    Picoseconds last_level_sector;  // one slice's share of the cache in front of it
    Picoseconds last_level;
    Picoseconds hit;   // tag -> data of a resident line
    Picoseconds miss;  // tag -> the request that leaves for home or DRAM
    Picoseconds fabric_request;
    Picoseconds fabric_reply;
    Picoseconds dram;       // the constant part of its latency
    double dram_jitter_ps;  // mean of the exponential part, of an idle DRAM
    double dram_load;       // how it grows with the share of the time that DRAM is busy
    double dram_load_far;   // and for requests over the fabric, which DRAM serves first
    double dram_spread_ps;  // longer waits deviate by the root of this times their mean
    double late_jitters;    // by so many mean jitters a box settles after its simulated lines
    Picoseconds sm_to_slice;
    Picoseconds slice_to_sm;

    static MemoryTiming of(const Machine& machine);

    // How much longer than its constant part DRAM's latency is.
    struct DramWait {
        double least_ps;
        double jitter_ps;  // mean of the exponential part, which is added
    };

    // When DRAM was busy for `load` of the time lately. A queue at such a load makes whoever comes wait so in
    // the mean, and long waits, being sums of many, vary less than their mean (traces/h200/delays.csv).
    DramWait wait(double load, bool far) const {
        const double mean = dram_jitter_ps / (1 - (far ? dram_load_far : dram_load) * std::min(load, 1.0));
        if (mean <= dram_spread_ps) return {0, mean};
        const double jitter = std::sqrt(dram_spread_ps * mean);
        return {mean - jitter, jitter};
    }
};

// The longest window in which neither side can hear of what the other does in it; a whole number of wheel
// buckets.
Picoseconds exchange_window(const Machine& machine);

}  // namespace l2lens
