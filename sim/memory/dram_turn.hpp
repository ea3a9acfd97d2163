// SPDX-License-Identifier: Apache-2.0
// DRAM turns from reads to writes and back. What is written back gathers at a slice's channels; when there is
// enough of it they turn to it, what comes to be written meanwhile goes along, and reads that come meanwhile
// wait. So a GEMM's loads take up to 170 ns longer while the L2 writes back the C of the tiles before, and
// boxes beside 50 B/ns of writes 52 ns longer (traces/h200/beside_writes.csv).
#pragma once

#include <algorithm>
#include <cmath>

#include "base/units.hpp"
#include "memory/recent_load.hpp"

namespace l2lens {

// How long a turn takes, and how much is written in one.
class DramTurn {
public:
    DramTurn() = default;

    // `sector`: how long a slice's DRAM takes for one. A length of 0: it serves both at once.
    DramTurn(Picoseconds length, int lines, Picoseconds sector)
        : length_(length),
          sectors_(lines * kSectorsPerLine),
          turned_per_load_(sectors_ > 0 ? static_cast<double>(length) / static_cast<double>(sectors_ * sector)
                                        : 0) {}

    Picoseconds length() const { return length_; }
    int sectors() const { return sectors_; }

    // Of `lines` that come to as many slices' DRAM, busy writing for `load` of the time: how long the slowest
    // waits. Each finds a turn under way as often as there is one, at any time of it, and is then behind
    // those that came before. `quantile` is of Exp(1): the smaller, the slower.
    Picoseconds slowest(double lines, double load, double quantile, double backlog_ps) const {
        const double turned = turned_per_load_ * load;  // to not turned
        if (turned <= 0) return 0;
        const double over = (1 - std::exp(-quantile / lines)) * (1 + turned) / turned;
        if (over >= 1) return 0;
        return static_cast<Picoseconds>(static_cast<double>(length_) * (1 - over) + backlog_ps);
    }

private:
    Picoseconds length_ = 0;
    int sectors_ = 0;
    double turned_per_load_ = 0;
};

// The turns of one slice's DRAM.
class DramTurns {
public:
    // Sectors that DRAM has room for at `now` and that keep it busy for `work`.
    void write(const DramTurn& turn, Picoseconds now, int sectors, Picoseconds work) {
        load_.add(now, work);
        if (now < until_) return;
        gathered_ += sectors;
        if (gathered_ < turn.sectors()) return;
        gathered_ = 0;
        until_ = now + turn.length();
    }

    // Of the turn under way.
    Picoseconds rest(Picoseconds now) const { return std::max<Picoseconds>(until_ - now, 0); }

    // What share of the time it was busy writing lately.
    double load(Picoseconds now) { return load_.add(now, 0); }

private:
    int gathered_ = 0;
    Picoseconds until_ = 0;
    RecentLoad load_{};
};

}  // namespace l2lens
