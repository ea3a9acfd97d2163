// SPDX-License-Identifier: Apache-2.0
// What boxes of one shape take of the L2's servers: tags, output ports, fabric and DRAM of a partition, whose
// slices work side by side, and the port of a GPC.
#pragma once

#include <array>
#include <cstdint>

#include "base/units.hpp"
#include "machine/machine.hpp"
#include "memory/timing.hpp"

#include "tile/box_table.hpp"

namespace l2lens {

// Of the lines of a box that have one home, all together.
struct PartTurns {
    Picoseconds tag = 0, tag_write = 0, output = 0, fabric = 0, dram = 0;
    double lines = 0;
    double log_lines = 0;
    std::uint32_t requests = 0;
};

struct ShapeTurns {
    std::array<PartTurns, kMostHomes> part;
    Picoseconds tag = 0;  // of both parts
    Picoseconds output = 0;
    Picoseconds gpc_port = 0;
};

ShapeTurns turns_of(const Machine& machine, const MemoryTiming& timing, const BoxShape& shape);

}  // namespace l2lens
