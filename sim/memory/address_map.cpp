// SPDX-License-Identifier: Apache-2.0
#include "memory/address_map.hpp"

#include <algorithm>
#include <bit>

namespace l2lens {
namespace {

// Of 65536 pages of 2 MiB, as many as an H200's memory has. Buffers were seen from pages 264, 899, 919 and
// 62745 on (docs/mechanisms.md).
std::uint32_t drawn_page(std::uint64_t seed) {
    constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // neighbouring seeds far apart, 0 at 0
    return static_cast<std::uint32_t>(seed * kGolden >> 48);
}

}  // namespace

AddressMap::AddressMap(const Machine& machine, std::uint64_t seed)
    : first_(drawn_page(seed) * kPageLines),
      home_(over_lines(machine.hash.home_masks)),
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
