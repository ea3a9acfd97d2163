// SPDX-License-Identifier: Apache-2.0
// From an SM's load engine to the slices: when each line of a box arrives. A trace stores a box and its issue
// time only, so what replays it goes through here too.
#pragma once

#include <cstdint>
#include <vector>

#include "base/units.hpp"
#include "machine/machine.hpp"
#include "memory/messages.hpp"

namespace l2lens {

// How far one SM is from the slices: fixed by its place on the die.
struct SmWire {
    Picoseconds latency = 0;            // to a slice, this SM's own share included
    std::vector<Picoseconds> to_slice;  // beyond that, per simulated lane
};

SmWire sm_wire(const Machine& machine, int sm, int lanes);

// From one line of a box to the next, in SM cycles: loads go out as requests, stores with their data.
inline double cycles_per_line(const Machine& machine, Operation operation) {
    const double stored = machine.bandwidth.store_lines_per_cycle;
    const bool with_data = operation != Operation::Read && stored > 0;
    return 1 / (with_data ? stored : machine.bandwidth.issue_lines_per_cycle);
}

// The load engine at work on one box: a line per issue slot, at an SM clock of `cycle_ps`.
class BoxTiming {
public:
    BoxTiming(const Machine& machine, const SmWire& wire, double cycle_ps, Picoseconds start,
              Operation operation)
        : wire_(wire),
          line_ps_(cycle_ps * cycles_per_line(machine, operation)),
          first_(start + static_cast<Picoseconds>(machine.latency.load_issue_cycles * cycle_ps) +
                 wire.latency) {}

    // When the line at `position` in the box's issue order reaches its slice in a simulated lane.
    Picoseconds arrival(std::uint32_t position, std::size_t lane) const {
        return first_ + static_cast<Picoseconds>(position * line_ps_) + wire_.to_slice[lane];
    }

    // How long a box of this many requests, all lanes counted, keeps the engine busy.
    Picoseconds busy(std::uint32_t requests) const { return static_cast<Picoseconds>(requests * line_ps_); }

private:
    const SmWire& wire_;
    double line_ps_;
    Picoseconds first_;
};

}  // namespace l2lens
