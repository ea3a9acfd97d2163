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
    MemoryModel(const Machine& machine, double lines_per_simulated_line, std::uint64_t seed = 0);

    // Of an SM of a GPC (numbers_in_gpcs()): below gpcs * most_sms_of_a_gpc.
    std::size_t sm_number(int gpc, int sm) const {
        return static_cast<std::size_t>(gpc) * most_sms_of_a_gpc + static_cast<std::size_t>(sm);
    }

    const Machine& machine;
    AddressMap map;
    MemoryTiming timing;
    std::vector<std::uint8_t> partition_of_gpc;
    std::size_t most_sms_of_a_gpc = 0;
    std::vector<std::uint16_t> turn_of_sm;  // [sm_number()]: its CPC, counted through all GPCs
    std::vector<float> exponential;         // quantiles of Exp(1), for DRAM's jitter
};

}  // namespace l2lens
