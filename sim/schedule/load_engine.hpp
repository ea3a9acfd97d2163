// SPDX-License-Identifier: Apache-2.0
// An SM's load engine: it takes boxes one after the other, those to be stored as well. A load behind a stored
// box of n rows of 128 B comes 4 n SM cycles later, whichever warp asks (traces/h200/boxes.csv). What plain
// stores write leaves the SM at the same pace, and holds no load up.
#pragma once

#include <algorithm>

#include "base/units.hpp"

namespace l2lens {

class LoadEngine {
public:
    // The last load has left by then.
    Picoseconds free() const { return free_; }

    // When loads that are asked for at `at` leave: ahead of a store that has not begun.
    Picoseconds begin_load(Picoseconds at) const {
        const Picoseconds start = std::max(at, free_);
        return start < held_from_ ? start : std::max(start, held_until_);
    }
    void end_load(Picoseconds at) { free_ = at; }

    // The same of stores.
    Picoseconds begin_store(Picoseconds at) const { return std::max({at, free_, store_free_}); }

    // Stores leave from `from` until `until`, decided on at `now`; those of boxes hold up loads. Of two such
    // that are yet to come, what is between them is held as well.
    void end_store(Picoseconds now, Picoseconds from, Picoseconds until, bool boxes) {
        store_free_ = until;
        if (!boxes) return;
        if (held_until_ <= now) held_from_ = from;
        held_until_ = until;
    }

private:
    Picoseconds free_ = 0;
    Picoseconds store_free_ = 0;
    Picoseconds held_from_ = 0;
    Picoseconds held_until_ = 0;
};

}  // namespace l2lens
