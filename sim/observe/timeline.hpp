// SPDX-License-Identifier: Apache-2.0
// What was counted when: a run's counts in bins of equal length, although nobody knows beforehand how long it
// will take. Bins begin short; when there are too many, neighbours become one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/units.hpp"
#include "counters/counters.hpp"

namespace l2lens {

struct TimeBin {
    Events events;                    // counted in the bin
    std::vector<std::uint8_t> state;  // what was seen when it ended, if somebody looked
};

class Timeline {
public:
    static constexpr std::size_t kMostBins = 128;

    // `look` is asked for the state at the end of each bin; nullptr: nobody looks.
    explicit Timeline(std::function<std::vector<std::uint8_t>()> look) : look_(std::move(look)) {}

    // What was counted since the launch, at the time since the launch. Times rise.
    void add(Picoseconds since_launch, const Events& so_far);
    // The run is over: the last bin ends.
    void finish();

    Picoseconds bin_length() const { return length_; }
    const std::vector<TimeBin>& bins() const { return bins_; }

private:
    void halve();

    std::function<std::vector<std::uint8_t>()> look_;
    Picoseconds length_ = 0;  // of a bin; that of the first window, doubled as often as need be
    Events before_;           // counted before the bin that is open
    Events last_;
    std::vector<TimeBin> bins_;  // the last one is open
};

}  // namespace l2lens
