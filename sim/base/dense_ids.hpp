// SPDX-License-Identifier: Apache-2.0
// Numbers things 0, 1, 2, ... in the order in which they are first met: an open-addressed table of hashes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace l2lens {

class DenseIds {
public:
    // The number of the thing with this hash that is_same(number) recognises, or a new one.
    template <class IsSame>
    std::uint32_t find_or_add(std::uint64_t hash, IsSame&& is_same) {
        if (2 * used_ >= slots_.size()) grow();
        const auto tag = static_cast<std::uint32_t>(hash >> 32);
        for (std::size_t i = tag & mask();; i = (i + 1) & mask()) {
            Slot& slot = slots_[i];
            if (slot.number == kFree) {
                slot = {tag, next_};
                ++used_;
                return next_++;
            }
            if (slot.tag == tag && is_same(slot.number)) return slot.number;
        }
    }

    // A number that nothing will be found under.
    std::uint32_t add() { return next_++; }

private:
    static constexpr std::uint32_t kFree = 0xFFFFFFFF;
    static constexpr std::size_t kFirstSlots = std::size_t{1} << 12;
    struct Slot {
        std::uint32_t tag = 0;
        std::uint32_t number = kFree;
    };

    std::size_t mask() const { return slots_.size() - 1; }
    // Half of the slots at most are taken, so that looks are short.
    void grow() {
        std::vector<Slot> old(2 * slots_.size());
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.number == kFree) continue;
            std::size_t i = slot.tag & mask();
            while (slots_[i].number != kFree) i = (i + 1) & mask();
            slots_[i] = slot;
        }
    }

    std::vector<Slot> slots_ = std::vector<Slot>(kFirstSlots);
    std::size_t used_ = 0;
    std::uint32_t next_ = 0;
};

}  // namespace l2lens
