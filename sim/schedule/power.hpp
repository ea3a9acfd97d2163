// SPDX-License-Identifier: Apache-2.0
// The SM clock the chip settles at under the power that a kernel draws: tensor math, and the bytes that SMs
// and slices and the two partitions exchange. (What comes from DRAM crosses half of the time.)
#pragma once

#include <algorithm>

#include "base/units.hpp"
#include "counters/counters.hpp"
#include "machine/machine.hpp"

namespace l2lens {

// Bytes, both ways, or TB/s (bytes per picosecond).
struct Traffic {
    double l2 = 0;  // looked up for SMs
    double fabric = 0;

    friend Traffic operator+(const Traffic& a, const Traffic& b) {
        return {a.l2 + b.l2, a.fabric + b.fabric};
    }
    friend Traffic operator-(const Traffic& a, const Traffic& b) { return a + b * -1; }
    friend Traffic operator*(const Traffic& a, double factor) { return {a.l2 * factor, a.fabric * factor}; }
};

// Of events each of which stands for `factor`.
inline Traffic traffic_of(const Events& events, double factor) {
    const auto sectors = [&](Event read, Event written) {
        return static_cast<double>(events[read] + events[written]);
    };
    return Traffic{sectors(Event::TexReadSectors, Event::TexWriteSectors),
                   sectors(Event::FabricReadSectors, Event::FabricWriteSectors)} *
           (factor * kSectorBytes);
}

// What a kernel has done since its launch, `elapsed` ago.
struct WorkDone {
    double flops = 0;
    Traffic bytes;
    Picoseconds elapsed = 0;
};

inline double ghz_under_power(const Machine& machine, double tflops, const Traffic& tb_per_s) {
    const auto& clock = machine.clock;
    if (clock.power_slope_ghz <= 0) return clock.sm_max_ghz;
    const double ghz = clock.power_base_ghz - clock.power_slope_ghz * tflops / 1000.0 -
                       clock.power_l2_ghz * tb_per_s.l2 - clock.power_fabric_ghz * tb_per_s.fabric;
    return std::clamp(ghz, 0.25 * machine.clock.sm_max_ghz, machine.clock.sm_max_ghz);
}

// SM cycle in picoseconds of a kernel with or without `tensor_math`.
inline double cycle_under_power(const Machine& machine, bool tensor_math, const WorkDone& done) {
    if (!tensor_math) return 1000.0 / ghz_under_power(machine, 0, {});
    // Before anything has run, the clock that dense math at this share of the peak would settle at, with what
    // GEMMs of good orders move (group_m:8 of 8192^3, traces/h200/gemm.csv).
    constexpr double kAssumedUtilisation = 0.8;
    constexpr Traffic kAssumedTraffic{7.8, 1.0};
    constexpr double kAssumedForPs = 20e6;  // the weight of that assumption: 20 us
    double assumed = 0;                     // flops per ps = TFLOP/s
    for (int i = 0; i < 8; ++i) {           // fixed point of clock -> throughput -> clock
        const double ghz = ghz_under_power(machine, assumed, kAssumedTraffic);
        assumed = static_cast<double>(machine.sms.size()) * machine.sm.tensor_flops_per_cycle_16bit * ghz *
                  kAssumedUtilisation / 1000.0;
    }
    const double ps = static_cast<double>(done.elapsed) + kAssumedForPs;
    return 1000.0 / ghz_under_power(machine, (done.flops + assumed * kAssumedForPs) / ps,
                                    (done.bytes + kAssumedTraffic * kAssumedForPs) * (1 / ps));
}

}  // namespace l2lens
