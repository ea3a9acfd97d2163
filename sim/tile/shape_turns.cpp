// SPDX-License-Identifier: Apache-2.0
#include "tile/shape_turns.hpp"

#include <algorithm>
#include <cmath>

namespace l2lens {
namespace {

// A partition's tags and ports are not all busy at once, since its slices get uneven shares of the lines:
// where all SMs copy what the L2 holds the line engine's slices deliver 1.90 sectors a cycle of the 1.95 that
// their ports take (bandwidth.output of models/gpus/h200.toml).
constexpr double kUneven = 1.95 / 1.90;

PartTurns turns_of_part(const Machine& machine, const MemoryTiming& timing, const BoxPart& part) {
    const double slices = machine.l2.slices_per_partition;
    const auto turn = [&](std::uint32_t n, Picoseconds each) {
        return static_cast<Picoseconds>(std::lround(n * static_cast<double>(each) / slices));
    };
    const auto uneven = [](Picoseconds each) {
        return static_cast<Picoseconds>(kUneven * static_cast<double>(each));
    };
    PartTurns turns;
    turns.requests = part.requests;
    turns.tag = turn(part.requests, uneven(timing.tag));
    turns.tag_write = turn(part.requests, timing.tag_write);
    turns.output = turn(part.sectors, uneven(timing.output_sector));
    turns.fabric = turn(part.fetched, timing.fabric_sector);
    turns.dram = turn(part.fetched, timing.dram_sector);
    turns.lines = std::max(1.0, static_cast<double>(part.requests));
    turns.log_lines = std::log(turns.lines);
    return turns;
}

}  // namespace

ShapeTurns turns_of(const Machine& machine, const MemoryTiming& timing, const BoxShape& shape) {
    ShapeTurns turns;
    for (std::size_t home = 0; home < kMostHomes; ++home) {
        turns.part[home] = turns_of_part(machine, timing, shape.part[home]);
        turns.tag += turns.part[home].tag;
        turns.output += turns.part[home].output;
    }
    turns.gpc_port = from_ns((shape.sectors * static_cast<double>(kSectorBytes) +
                              shape.requests * machine.bandwidth.answer_overhead_bytes) /
                             machine.bandwidth.gpc_bytes_per_ns);
    return turns;
}

}  // namespace l2lens
