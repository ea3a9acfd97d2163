// SPDX-License-Identifier: Apache-2.0
#include "memory/solved_map.hpp"

#include <bit>

namespace l2lens {
namespace {

// An H100 has five times sixteen slots, an H200 fourteen more (slices.csv of traces/h100 and traces/h200).
std::vector<std::uint16_t> lanes_of_slots(std::uint32_t slots) {
    const std::uint32_t in_fours = slots / 16 * 16;
    std::vector<std::uint16_t> lanes;
    for (std::uint32_t slot = 0; slot < slots; ++slot) {
        const bool inner = slot < in_fours && (slot % 4 == 1 || slot % 4 == 2);
        const std::uint32_t first = slot < in_fours ? slot / 4 * 2 : slot / 2;
        lanes.push_back(static_cast<std::uint16_t>(first + (inner ? 1 : 0)));
    }
    return lanes;
}

}  // namespace

SolvedMap::SolvedMap(const Machine& machine)
    : lane_of_slot_(lanes_of_slots(static_cast<std::uint32_t>(machine.partitions) *
                                   static_cast<std::uint32_t>(machine.l2.slices_per_partition))),
      slots_(static_cast<std::uint32_t>(lane_of_slot_.size())),
      sets_(machine.sets_per_slice()) {
    std::vector<std::uint64_t> masks = machine.hash.home_masks;
    masks.insert(masks.end(), machine.hash.slot_masks.begin(), machine.hash.slot_masks.end());
    hashed_ = Parities(over_lines(masks));
    low_bits_ = static_cast<int>(masks.size()) + kRowBits;
    for (std::size_t i = 0; i < row_bit_.size(); ++i)
        row_bit_[i] = std::countr_zero(machine.hash.row_bits[i]) - kLineShift;
    std::vector<std::uint32_t> turns;
    for (const std::uint64_t mask : machine.hash.set_masks) turns.push_back(static_cast<std::uint32_t>(mask));
    turn_ = Parities(turns);
}

}  // namespace l2lens
