// SPDX-License-Identifier: Apache-2.0
// The SM clock the chip settles at under the power that a kernel draws.
#pragma once

#include <algorithm>

#include "base/units.hpp"
#include "machine/machine.hpp"

namespace l2lens {

// What a kernel has done since its launch, `elapsed` ago.
struct WorkDone {
    double flops = 0;
    double dram_bytes = 0;  // both ways
    Picoseconds elapsed = 0;
};

inline double ghz_under_power(const Machine& machine, double tflops, double dram_tb_per_s) {
    const auto& clock = machine.clock;
    if (clock.power_slope_ghz <= 0) return clock.sm_max_ghz;
    const double ghz =
        clock.power_base_ghz - clock.power_slope_ghz * tflops / 1000.0 - clock.power_dram_ghz * dram_tb_per_s;
    return std::clamp(ghz, 0.25 * machine.clock.sm_max_ghz, machine.clock.sm_max_ghz);
}

// SM cycle in picoseconds of a kernel with or without `tensor_math`.
inline double cycle_under_power(const Machine& machine, bool tensor_math, const WorkDone& done) {
    if (!tensor_math) return 1000.0 / ghz_under_power(machine, 0, 0);
    // Before anything has run, the clock that dense math at this share of the peak would settle at, with what
    // GEMMs of good orders move to and from DRAM (group_m:8 of 8192^3: 1.1 TB/s, traces/h200/gemm.csv).
    constexpr double kAssumedUtilisation = 0.8;
    constexpr double kAssumedDram = 1;      // bytes per ps = TB/s
    constexpr double kAssumedForPs = 20e6;  // the weight of that assumption: 20 us
    double assumed = 0;                     // flops per ps = TFLOP/s
    for (int i = 0; i < 8; ++i) {           // fixed point of clock -> throughput -> clock
        const double ghz = ghz_under_power(machine, assumed, kAssumedDram);
        assumed = static_cast<double>(machine.sms.size()) * machine.sm.tensor_flops_per_cycle_16bit * ghz *
                  kAssumedUtilisation / 1000.0;
    }
    const double ps = static_cast<double>(done.elapsed) + kAssumedForPs;
    return 1000.0 / ghz_under_power(machine, (done.flops + assumed * kAssumedForPs) / ps,
                                    (done.dram_bytes + kAssumedDram * kAssumedForPs) / ps);
}

}  // namespace l2lens
