// SPDX-License-Identifier: Apache-2.0
// Something that serves whole boxes one after another: the tags of a partition taken together, the port of an
// SM.
#pragma once

#include <algorithm>

#include "base/units.hpp"

namespace l2lens {

// First come, first served.
class Server {
public:
    // Of lines that have come one by one over `spread` up to `now`, when the last one has been served, which
    // takes `last`.
    Picoseconds take_stream(Picoseconds now, Picoseconds spread, Picoseconds service, Picoseconds last) {
        free_ = std::max(now - spread, free_) + service;
        return std::max(free_, now + last);
    }

private:
    Picoseconds free_ = 0;
};

}  // namespace l2lens
