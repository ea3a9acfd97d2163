// SPDX-License-Identifier: Apache-2.0
#include "memory/memory_model.hpp"

#include <algorithm>
#include <cmath>

#include "machine/topology.hpp"

namespace l2lens {

MemoryModel::MemoryModel(const Machine& m, double lines_per_simulated_line, std::uint64_t seed)
    : machine(m), map(m, seed), timing(MemoryTiming::of(m, lines_per_simulated_line, seed)) {
    partition_of_gpc.resize(static_cast<std::size_t>(m.gpcs));
    for (const Sm& sm : m.sms) {
        partition_of_gpc[static_cast<std::size_t>(sm.gpc)] = static_cast<std::uint8_t>(sm.partition);
    }
    const std::vector<std::uint8_t> numbers = numbers_in_gpcs(m);
    for (const std::uint8_t number : numbers)
        most_sms_of_a_gpc = std::max(most_sms_of_a_gpc, number + std::size_t{1});
    turn_of_sm.resize(sm_number(m.gpcs, 0));
    for (std::size_t i = 0; i < numbers.size(); ++i)
        turn_of_sm[sm_number(m.sms[i].gpc, numbers[i])] =
            static_cast<std::uint16_t>(m.sms[i].gpc * m.cpcs_per_gpc + m.sms[i].cpc);
    constexpr int kQuantiles = 4096;
    for (int i = 0; i < kQuantiles; ++i) {
        exponential.push_back(static_cast<float>(-std::log(1.0 - (i + 0.5) / kQuantiles)));
    }
}

}  // namespace l2lens
