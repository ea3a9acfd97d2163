// SPDX-License-Identifier: Apache-2.0
// What a foreign trace says: which CTA's which warp touched which bytes with which instruction. No times:
// those are made by place_ctas() from the order of the instructions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>

#include "kernel/kernel.hpp"
#include "memory/messages.hpp"

namespace l2lens {

inline constexpr int kWarpLanes = 32;

// One memory instruction of a warp.
struct WarpAccess {
    std::uint32_t cta = 0;          // in launch order
    std::uint32_t warp = 0;         // of the CTA
    int line = 0;                   // of the trace, where it begins
    std::uint32_t instruction = 0;  // how many instructions of the warp were before it
    Operation operation = Operation::Read;
    Path path = Path::Load;
    bool adds = false;        // an atomic or a reduction: the L2 needs the old value
    std::uint32_t width = 4;  // bytes of a lane
    int lanes = 0;            // active ones
    std::array<std::uint64_t, kWarpLanes> address{};
};

// What the trace says of the launch, as far as it does.
struct ForeignLaunch {
    std::string kernel;
    Resources resources;  // threads 0: not said
};

// Gets each access in the order of the trace; CTAs come one after the other.
using AccessVisitor = std::function<void(const WarpAccess&)>;

}  // namespace l2lens
