// SPDX-License-Identifier: Apache-2.0
// CTAs that do the same work do not take the same time, and over many tiles that parts those that read the
// same lines. Four causes are known:
//
// * Each GPC has a clock of its own: under tensor load the GPCs' mean times differ by 0.6 % (standard
//   deviation), other GPCs on each board, while the SMs of one GPC read the same clock to 10 ppm
//   (traces/h200/gemm_schedules.csv). It is the whole GPC's clock, not its tensor cores' alone: CTAs that
//   wait for data differ as much (triton_schedules.csv). About a millisecond into a launch they become alike
//   (gemm_schedules_k16384.csv).
// * A change of tiles takes one CTA longer than the other, by as much after few steps as after many
//   (traces/h200/gemm_schedules_k1024.csv and _k16384.csv).
// * CTAs that start together do not ask together: those of a GPC are 40 to 80 ns apart with hits alone, and
//   stay so (traces/h200/producer_polls.csv).
// * A CTA of attention has a pace of its own, a share of its length (traces/h200/attention_schedules.csv).
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/random.hpp"
#include "base/units.hpp"
#include "kernel/kernel.hpp"
#include "machine/machine.hpp"

namespace l2lens {

// Uniform from 0 to 1, one for each `what` and number.
inline double uniform_of(std::uint32_t what, std::uint64_t seed, std::int32_t number) {
    return RandomStream(seed, (std::uint64_t{what} << 32) + static_cast<std::uint32_t>(number)).uniform();
}

// Uniform with mean 0 and standard deviation 1.
inline double deviation_of(std::uint32_t what, std::uint64_t seed, std::int32_t number) {
    constexpr double kWidth = 3.4641016151377544;  // sqrt(12), of a uniform of standard deviation 1
    return kWidth * (uniform_of(what, seed, number) - 0.5);
}

// What the math of a tile is to take of the mean: 1 with standard deviation `spread`, uniform. A tile has the
// same in any order, launch and engine.
inline double tile_pace(double spread, std::uint64_t seed, std::int32_t tile) {
    return spread > 0 ? 1 + spread * deviation_of(0x9ACE, seed, tile) : 1;
}

// How much longer than the mean a tile's epilogue takes, with standard deviation `jitter_ns`; also the same
// in any order, launch and engine.
inline Picoseconds epilogue_deviation(double jitter_ns, std::uint64_t seed, std::int32_t tile) {
    return jitter_ns > 0 ? from_ns(jitter_ns * deviation_of(0xE91, seed, tile)) : 0;
}

// How much longer than the least it takes from a CTA's start to its first loads, uniform up to `jitter_ns`;
// the same for whoever begins with that tile.
inline Picoseconds prologue_delay(double jitter_ns, std::uint64_t seed, std::int32_t tile) {
    return jitter_ns > 0 ? from_ns(jitter_ns * uniform_of(0x9401, seed, tile)) : 0;
}

// What a cycle takes on each GPC of the mean over the GPCs: 1 with standard deviation clock.gpc_spread, of
// any seed, when the kernel loads the tensor cores; else all clocks are the same. A seed stands for a board.
inline std::vector<double> gpc_paces(const Machine& machine, const Kernel& kernel, std::uint64_t seed) {
    std::vector<double> paces(static_cast<std::size_t>(machine.gpcs), 1.0);
    if (machine.clock.gpc_spread <= 0 || machine.gpcs < 2 || !kernel.has_tensor_math()) return paces;
    RandomStream random(seed, 0x6C0C10C4u);
    double sum = 0, squares = 0;
    for (double& pace : paces) {
        pace = random.uniform();
        sum += pace;
        squares += pace * pace;
    }
    const double mean = sum / machine.gpcs;
    const double deviation = std::sqrt(squares / machine.gpcs - mean * mean);
    for (double& pace : paces) pace = 1 + machine.clock.gpc_spread * (pace - mean) / deviation;
    return paces;
}

// The clocks of a launch's GPCs.
class GpcClocks {
public:
    GpcClocks(const Machine& machine, const Kernel& kernel, std::uint64_t seed)
        : of_gpc_(gpc_paces(machine, kernel, seed)), settles_(from_ns(machine.clock.gpc_settles_ms * 1e6)) {}

    // What a cycle takes on a GPC of the mean. The launch is as old as the first moment asked for.
    double cycle(std::size_t gpc, Picoseconds now) {
        launched_at_ = std::min(launched_at_, now);
        return now - launched_at_ < settles_ ? of_gpc_[gpc] : 1;
    }

private:
    std::vector<double> of_gpc_;
    Picoseconds settles_;
    Picoseconds launched_at_ = std::numeric_limits<Picoseconds>::max();
};

// What a launch's tiles make of the kernel's means.
class TilePaces {
public:
    TilePaces(const Kernel& kernel, std::uint64_t seed)
        : spread_(kernel.pace_spread),
          prologue_jitter_ns_(kernel.prologue_jitter_ns),
          epilogue_jitter_ns_(kernel.epilogue_jitter_ns),
          seed_(seed) {}

    // What a tile's math takes of the mean.
    double math(std::int32_t tile) const { return tile_pace(spread_, seed_, tile); }
    // By how much the prologue of a CTA that begins with it is longer than the least.
    Picoseconds prologue(std::int32_t tile) const { return prologue_delay(prologue_jitter_ns_, seed_, tile); }
    // By how much its epilogue is longer than the mean; often negative.
    Picoseconds epilogue(std::int32_t tile) const {
        return epilogue_deviation(epilogue_jitter_ns_, seed_, tile);
    }

private:
    double spread_;
    double prologue_jitter_ns_;
    double epilogue_jitter_ns_;
    std::uint64_t seed_;
};

}  // namespace l2lens
