// SPDX-License-Identifier: Apache-2.0
// Do the CTAs of a cluster fit together?
#pragma once

#include "kernel/kernel.hpp"

namespace l2lens {

// Throws BadInput where the CTAs of a cluster have different numbers of steps (a step's loads leave when all
// of the cluster has a stage for them: those that go on would wait for ever), and where a box is multicast to
// another number of CTAs than run along its axis. CTAs without a phase are no-ops, and count as none.
void check_clusters(const Kernel& kernel);

}  // namespace l2lens
