// SPDX-License-Identifier: Apache-2.0
#include "schedule/wire.hpp"

#include "base/random.hpp"

namespace l2lens {
namespace {

// A fixed number in [0, 1) for a pair: the place of an SM, or of an SM and a slice, on the die.
double place(std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(mix64(a * 1000003 + b) >> 11) * 0x1.0p-53;
}

}  // namespace

SmWire sm_wire(const Machine& machine, int sm, int lanes) {
    const double cycle_ps = 1000.0 / machine.clock.sm_max_ghz;
    const auto id = static_cast<std::uint64_t>(sm);
    SmWire wire;
    wire.latency = from_ns(machine.latency.sm_to_slice_ns) +
                   static_cast<Picoseconds>(place(id / 2, 1) * machine.latency.sm_spread_cycles * cycle_ps);
    for (int lane = 0; lane < lanes; ++lane) {
        wire.to_slice.push_back(static_cast<Picoseconds>(place(id, 100 + static_cast<std::uint64_t>(lane)) *
                                                         machine.latency.slice_spread_cycles * cycle_ps));
    }
    return wire;
}

}  // namespace l2lens
