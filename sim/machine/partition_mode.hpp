// SPDX-License-Identifier: Apache-2.0
// Compute and memory partitions of GPUs made of dies with L2s of their own (AMD Instinct MI300X: "SPX" to
// "CPX", "NPS1" and "NPS4"): a device that is a share of the dies, with all of the memory's bandwidth and
// last level in front of it, or a share of those, too.
#pragma once

#include <string>

#include "machine/machine.hpp"

namespace l2lens {

// `mode` is spx, dpx, qpx or cpx (all dies, a half, a quarter, one), then optionally -nps1 or -nps4 (all of
// the memory, a quarter of it; not with fewer devices than memory partitions). Throws BadInput for another
// mode and for machines without private L2s.
void take_partition(Machine& machine, const std::string& mode);

}  // namespace l2lens
