// SPDX-License-Identifier: Apache-2.0
// A machine's L2 as lanes work with it: where lines lie, how long things take, what DRAM draws from.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/machine.hpp"
#include "memory/address_map.hpp"
#include "memory/timing.hpp"

namespace l2lens {

// What all lanes of one run share, read-only.
struct MemoryModel {
    MemoryModel(const Machine& machine, double lines_per_simulated_line);

    const Machine& machine;
    AddressMap map;
    MemoryTiming timing;
    std::vector<std::uint8_t> partition_of_gpc;
    std::vector<float> exponential;  // quantiles of Exp(1), for DRAM's jitter
};

}  // namespace l2lens
