// SPDX-License-Identifier: Apache-2.0
// The moments in which DRAM serves nobody: every 100.1 us all channels of an H200's stop for 0.8 us, and
// whoever asks meanwhile waits for the end (traces/h200/README.md, paced.csv). What for is not known; an
// H100's do not.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "base/units.hpp"

namespace l2lens {

class DramPause {
public:
    DramPause() = default;

    // `length` of every `period`; 0: never. The seed draws when the first one is: a launch begins at any
    // time.
    DramPause(Picoseconds length, Picoseconds period, std::uint64_t seed) : length_(length), period_(period) {
        if (length_ > 0) since_ = static_cast<Picoseconds>(mix64(seed) % static_cast<std::uint64_t>(period_));
    }

    // When DRAM serves what comes to its turn at `now`.
    Picoseconds after(Picoseconds now) const {
        if (length_ == 0) return now;
        const Picoseconds into = (now + since_) % period_;
        return into < length_ ? now + (length_ - into) : now;
    }

private:
    Picoseconds length_ = 0, period_ = 0;
    Picoseconds since_ = 0;  // the beginning of the last one before time 0
};

}  // namespace l2lens
