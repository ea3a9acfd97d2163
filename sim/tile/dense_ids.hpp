// SPDX-License-Identifier: Apache-2.0
// Numbers things 0, 1, 2, ... in the order in which they are first met: an open-addressed table of hashes.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace l2lens {

class DenseIds {
public:
    explicit DenseIds(std::size_t most) : slots_(std::bit_ceil(2 * most + 2)) {}

    // The number of the thing with this hash that is_same(number) recognises, or a new one.
    template <class IsSame>
    std::uint32_t find_or_add(std::uint64_t hash, IsSame&& is_same) {
        const std::size_t mask = slots_.size() - 1;
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
            Slot& slot = slots_[i];
            if (slot.number == kFree) {
                slot = {tag, next_};
                return next_++;
            }
            if (slot.tag == tag && is_same(slot.number)) return slot.number;
        }
    }

    // A number that nothing will be found under.
    std::uint32_t add() { return next_++; }

private:
    static constexpr std::uint32_t kFree = 0xFFFFFFFF;
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t number = kFree;
    };

    std::vector<Slot> slots_;
    std::uint32_t next_ = 0;
};

}  // namespace l2lens
