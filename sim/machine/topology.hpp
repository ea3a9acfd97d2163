// SPDX-License-Identifier: Apache-2.0
// The SM table as people write it: which SMs a GPC has, which partition it looks in, who is launched on
// first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/machine.hpp"

namespace l2lens {

// A request numbers both in a byte.
inline constexpr int kMaxGpcs = 256;
inline constexpr int kMaxSmsOfGpc = 256;

struct Topology {
    std::vector<std::vector<int>> sms_of_gpc;  // SM ids
    std::vector<int> partition_of_gpc;
    std::vector<int> first_wave;  // SM ids in launch order
};

// What is wrong with a machine, and which parameter to look at.
struct Problem {
    std::string key;  // of parameters.hpp
    std::string message;
};

// What keeps `topology` from being a table of SMs 0 .. n-1 on `partitions` partitions; empty when nothing
// does.
std::vector<Problem> check(const Topology& topology, int partitions);

// Fills machine.sms and machine.gpcs from a topology that passes the check. machine.cpcs_per_gpc must be
// known: each GPC's SMs, in the order of their ids, are dealt to its CPCs by pairs (TPCs).
void place_sms(const Topology& topology, Machine& machine);

// Leaves the machine the `count` SMs that the first CTAs of a launch reach, numbered anew in the order of
// their ids: a launch confined to them (green contexts, MPS), or a persistent kernel that leaves the others
// free. They stay in their GPCs and CPCs, and GPCs that are left without one stay, too: the GPU still has
// their turns and clocks. Throws BadInput unless count is 1 to the SMs there are.
void keep_sms(Machine& machine, int count);

// [sm]: which of its GPC's SMs it is, in the order of their ids.
std::vector<std::uint8_t> numbers_in_gpcs(const Machine& machine);

// The inverse: GPCs list their SMs in ascending order.
Topology topology_of(const Machine& machine);

}  // namespace l2lens
