// SPDX-License-Identifier: Apache-2.0
#include "memory/address_map.hpp"

#include <algorithm>
#include <bit>

namespace l2lens {

AddressMap::AddressMap(const Machine& machine)
    : home_(over_lines(machine.hash.home_masks)),
      granule_mask_(static_cast<std::uint32_t>(std::max(machine.hash.interleave_bytes / kLineBytes, 1) - 1)),
      lanes_(static_cast<std::uint32_t>(machine.l2.slices_per_partition)),
      sets_(machine.sets_per_slice()) {
    for (const std::uint32_t mask : over_lines(machine.hash.home_masks))
        home_run_bits_ = std::min(home_run_bits_, std::countr_zero(mask));
    if (machine.hash.slot_masks.empty())
        fitted_.emplace(machine);
    else
        solved_.emplace(machine);
}

}  // namespace l2lens
