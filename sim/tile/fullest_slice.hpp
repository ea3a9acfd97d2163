// SPDX-License-Identifier: Apache-2.0
// How much longer the last of a box's lines waits than they do in the mean. Each slice has a server of its
// own, and a box waits for its line at the fullest. Lines come to a slice as by chance, and each takes as
// long: of such a queue (M/D/1) longer waits are the rarer by exp(-x) a service time, where load (e^x - 1) =
// x (Cramer's and Lundberg's exponent), and a line waits at all as often as the server is busy.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace l2lens {

class FullestSlice {
public:
    FullestSlice() {
        for (std::size_t i = 1; i < kLoads; ++i) {
            const double load = kMost * static_cast<double>(i) / (kLoads - 1);
            scale_[i] = static_cast<float>(1 / rate_of(load));
            log_load_[i] = static_cast<float>(std::log(load));
        }
    }

    // By which longer waits are rarer by e, in service times; 0 where nobody waits.
    double scale(double load) const { return static_cast<double>(scale_[at(load)]); }
    // ln of the share of lines that wait.
    double log_waiting(double load) const { return static_cast<double>(log_load_[at(load)]); }

private:
    static constexpr std::size_t kLoads = 128;
    static constexpr double kMost = 0.95;  // beyond, lines wait for what came before, not by chance

    static std::size_t at(double load) {
        return static_cast<std::size_t>(std::lround(std::clamp(load / kMost, 0.0, 1.0) * (kLoads - 1)));
    }
    // The x above, by Newton's method, from what it comes close to where queues are long.
    static double rate_of(double load) {
        double x = 2 * (1 - load) / load;
        for (int i = 0; i < 100; ++i) x -= (load * std::expm1(x) - x) / (load * std::exp(x) - 1);
        return x;
    }

    std::array<float, kLoads> scale_{};
    std::array<float, kLoads> log_load_{};
};

}  // namespace l2lens
