// SPDX-License-Identifier: Apache-2.0
// What a request says of where its data land: a CTA's slot of its GPC and a stage of it, in 16 bits.
#pragma once

#include <cstdint>

#include "kernel/kernel.hpp"

namespace l2lens {

// CTAs of one GPC at a time: what a landing can number beside the stage.
inline constexpr int kMaxCtasOfGpc = 1024;

// slot * kMaxStages + stage; the two highest bits say that it stands for a multicast's receivers.
inline constexpr std::uint16_t kLandingMask = 0x3FFF;
static_assert(kMaxCtasOfGpc * kMaxStages == kLandingMask + 1);

constexpr std::uint16_t multicast_bit(int axis) {
    return axis == 0 ? 0x8000 : 0x4000;
}

// The CTA slot of a GPC that a load's landing stands for: its SM there, in id order, * CTAs per SM + slot.
constexpr int slot_of_landing(std::uint16_t landing) {
    return (landing & kLandingMask) / kMaxStages;
}

}  // namespace l2lens
