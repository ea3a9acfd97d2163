// SPDX-License-Identifier: Apache-2.0
// CTAs that do the same work do not take the same time, and over thousands of steps that parts those that
// read the same lines. Two causes are known (traces/h200/gemm_schedules.csv):
//
// * Each GPC has a clock of its own: under tensor load the GPCs' mean times differ by 0.6 % (standard
//   deviation), other GPCs on each board, while the SMs of one GPC read the same clock to 10 ppm.
// * A CTA has a pace of its own: the times of CTAs that a GPC begins together differ by a constant share of
//   their length, hardly with the SM.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/random.hpp"
#include "kernel/kernel.hpp"
#include "machine/machine.hpp"

namespace l2lens {

// What the math of a tile is to take of the mean: 1 with standard deviation `spread`, uniform. A tile has the
// same in any order, launch and engine.
inline double tile_pace(double spread, std::uint64_t seed, std::int32_t tile) {
    if (spread <= 0) return 1;
    constexpr double kWidth = 3.4641016151377544;  // sqrt(12), of a uniform of standard deviation 1
    RandomStream random(seed, (std::uint64_t{0x9ACE} << 32) + static_cast<std::uint32_t>(tile));
    return 1 + spread * kWidth * (random.uniform() - 0.5);
}

// What math takes on each GPC of the mean over the GPCs: 1 with standard deviation clock.gpc_spread, of any
// seed, when the kernel loads the tensor cores; else all clocks are the same. A seed stands for a board.
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

// What both causes make of a launch's tiles.
class MathPaces {
public:
    MathPaces(const Machine& machine, const Kernel& kernel, std::uint64_t seed)
        : spread_(kernel.pace_spread), seed_(seed), of_gpc_(gpc_paces(machine, kernel, seed)) {}

    // What the math of a tile takes of the mean on a GPC.
    double of(std::size_t gpc, std::int32_t tile) const {
        return tile_pace(spread_, seed_, tile) * of_gpc_[gpc];
    }

private:
    double spread_;
    std::uint64_t seed_;
    std::vector<double> of_gpc_;
};

}  // namespace l2lens
