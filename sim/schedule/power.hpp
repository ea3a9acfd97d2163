// SPDX-License-Identifier: Apache-2.0
// The SM clock the chip settles at under the power that a kernel draws.
#pragma once

#include <algorithm>

#include "base/units.hpp"
#include "machine/machine.hpp"

namespace l2lens {

inline double ghz_under_power(const Machine& machine, double tflops) {
    if (machine.clock.power_slope_ghz <= 0) return machine.clock.sm_max_ghz;
    const double ghz = machine.clock.power_base_ghz - machine.clock.power_slope_ghz * tflops / 1000.0;
    return std::clamp(ghz, 0.25 * machine.clock.sm_max_ghz, machine.clock.sm_max_ghz);
}

// SM cycle in picoseconds, `elapsed` after the launch of a kernel with or without `tensor_math` that has done
// `flops` so far.
inline double cycle_under_power(const Machine& machine, bool tensor_math, double flops, Picoseconds elapsed) {
    if (!tensor_math) return 1000.0 / ghz_under_power(machine, 0);
    // Before anything has run, the clock that dense math at this share of the peak would settle at.
    constexpr double kAssumedUtilisation = 0.8;
    constexpr double kAssumedForPs = 20e6;  // the weight of that assumption: 20 us
    double assumed = 0;                     // flops per ps = TFLOP/s
    for (int i = 0; i < 8; ++i) {           // fixed point of clock -> throughput -> clock
        const double ghz = ghz_under_power(machine, assumed);
        assumed = static_cast<double>(machine.sms.size()) * machine.sm.tensor_flops_per_cycle_16bit * ghz *
                  kAssumedUtilisation / 1000.0;
    }
    const double tflops = (flops + assumed * kAssumedForPs) / (static_cast<double>(elapsed) + kAssumedForPs);
    return 1000.0 / ghz_under_power(machine, tflops);
}

}  // namespace l2lens
