// SPDX-License-Identifier: Apache-2.0
// Who waits how long at full slices and ports. The line engine's slices that are full let CPCs take turns
// (memory/turn_queue.hpp): where more SMs share a turn, each waits longer, whatever it asks for. So SMs of a
// GPC of 18 fall behind those of 16, and SMs of a CPC of six behind those of four (traces/h200/shares.csv),
// which pulls CTAs apart that would share boxes: without it launches of traces/h200/gemm.csv that fill the
// ports, several CTAs an SM, take 16 % less time than with lines in the mean (with it 11), and `row_major` of
// 64 x 128 tiles fills half as much (three quarters). CTAs that have their SM to themselves seldom fill the
// ports, and are as close to lines without.
#pragma once

#include <vector>

#include "base/units.hpp"
#include "machine/machine.hpp"

namespace l2lens {

// How many times as long as the mean of its partition, or of its GPC, an SM waits.
struct TurnShare {
    double slices = 1;    // at the tags and outputs of its partition
    double gpc_port = 1;  // at that of its GPC
};

// By SM.
std::vector<TurnShare> turn_shares(const Machine& machine);

}  // namespace l2lens
