// SPDX-License-Identifier: Apache-2.0
// Where a line lies in its lane. Worked out once a walk and carried by its requests, since a lane asks for it
// at each of a request's stations.
#pragma once

#include <cstdint>

namespace l2lens {

class LinePlace {
public:
    LinePlace() = default;  // not worked out: the lane does
    LinePlace(std::uint32_t set, int home) : bits_(set << kHomeBits | static_cast<std::uint32_t>(home)) {}

    bool known() const { return bits_ != kUnknown; }
    // Of the slice, in either partition.
    std::uint32_t set() const { return bits_ >> kHomeBits; }
    // The partition that has it from the memory.
    int home() const { return static_cast<int>(bits_ & kHomeMask); }

private:
    // As many partitions as Parities tells apart; 24 bits are left for the set (tests/unit/limits.cpp).
    static constexpr int kHomeBits = 8;
    static constexpr std::uint32_t kHomeMask = (1u << kHomeBits) - 1;
    static constexpr std::uint32_t kUnknown = 0xFFFFFFFF;

    std::uint32_t bits_ = kUnknown;
};

}  // namespace l2lens
