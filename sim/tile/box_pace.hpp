// SPDX-License-Identifier: Apache-2.0
// How long boxes take on the SMs' side, at the SM clock of the moment.
#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/units.hpp"
#include "machine/machine.hpp"
#include "schedule/math_rate.hpp"
#include "schedule/wire.hpp"

#include "tile/box_table.hpp"

namespace l2lens {

// Times of the boxes of one shape.
struct BoxPace {
    Picoseconds busy =
        0;  // of what sends the requests of one of its steps: the load engine, or the stores' way
    Picoseconds half_step = 0;   // from the middle request of a step to the step's last one
    Picoseconds half_span = 0;   // from its middle request to its last one
    Picoseconds in_sm = 0;       // of an SM's port
    Picoseconds last_in_sm = 0;  // its last line's share of that

    // From the last line of its first step to its middle one: negative for a single step.
    Picoseconds first_step_to_middle() const { return half_span - 2 * half_step; }
};

class BoxPaces {
public:
    BoxPaces(const Machine& machine, const Kernel& kernel, const BoxTable& boxes)
        : machine_(machine),
          boxes_(boxes),
          cycles_per_flop_(1.0 / math_rate(machine, kernel.math)),
          paces_(boxes.shapes().size()) {}

    const BoxPace& of(std::uint32_t shape) const { return paces_[shape]; }

    // SM cycles from now on last this long. What changes nothing worth mentioning is left as it is.
    void set_cycle(double picoseconds) {
        constexpr double kWorthMentioning = 5e-4;
        if (std::abs(picoseconds - cycle_) < kWorthMentioning * picoseconds) return;
        cycle_ = picoseconds;
        const double load = picoseconds * cycles_per_line(machine_, Operation::Read);
        const double store = picoseconds * cycles_per_line(machine_, Operation::Write);
        const double landing = picoseconds / machine_.bandwidth.sm_lines_per_cycle / kSectorsPerLine;
        for (std::size_t i = 0; i < paces_.size(); ++i) {
            const BoxShape& shape = boxes_.shapes()[i];
            if (shape.requests == 0) continue;
            const double line = shape.stored ? store : load;
            const double requests = static_cast<double>(shape.requests) / shape.steps;
            const double half_step = std::max(requests - 1, 0.0) * line / 2;
            const double between = picoseconds * (shape.math_flops * cycles_per_flop_ + shape.math_cycles);
            paces_[i].busy = static_cast<Picoseconds>(requests * line);
            paces_[i].half_step = static_cast<Picoseconds>(half_step);
            paces_[i].half_span = static_cast<Picoseconds>(
                half_step + (shape.steps - 1) * std::max(between, line * requests) / 2);
            paces_[i].in_sm = static_cast<Picoseconds>(shape.sectors * landing);
            paces_[i].last_in_sm = paces_[i].in_sm / static_cast<Picoseconds>(shape.requests);
        }
    }

private:
    const Machine& machine_;
    const BoxTable& boxes_;
    double cycles_per_flop_;
    std::vector<BoxPace> paces_;  // per shape
    double cycle_ = 0;
};

}  // namespace l2lens
