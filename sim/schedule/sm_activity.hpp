// SPDX-License-Identifier: Apache-2.0
// For how long SMs were active, which is what sm__cycles_active counts: less than the launch takes where its
// last wave is ragged or CTAs leave at different times. An SM is active from its first CTA's start to its
// last one's end. The moment between a CTA and the next counts: with it, launches of mode grid run at the
// clocks that persistent ones of the same power run at (traces/h200/live_groups.csv), without it 1 to 2 %
// above.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "base/units.hpp"

namespace l2lens {

class SmActivity {
public:
    explicit SmActivity(std::size_t sms) : stays_(sms) {}

    void began(std::size_t sm, Picoseconds at) {
        Stay& stay = stays_[sm];
        if (!stay.any || at < stay.first) stay.first = at;
        stay.any = true;
    }

    void ended(std::size_t sm, Picoseconds at) { stays_[sm].last = std::max(stays_[sm].last, at); }

    // Of an SM, in the mean of all, in picoseconds.
    double mean() const {
        double sum = 0;
        for (const Stay& stay : stays_) {
            if (stay.any) sum += static_cast<double>(stay.last - stay.first);
        }
        return sum / static_cast<double>(stays_.size());
    }

private:
    struct Stay {
        bool any = false;
        Picoseconds first = 0;
        Picoseconds last = 0;
    };

    std::vector<Stay> stays_;
};

}  // namespace l2lens
