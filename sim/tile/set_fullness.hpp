// SPDX-License-Identifier: Apache-2.0
// How unevenly a kernel's lines fill the sets of the L2: the address map decides, and whole boxes have no
// sets.
#pragma once

#include <array>

#include "machine/machine.hpp"
#include "memory/address_map.hpp"
#include "schedule/work.hpp"

#include "tile/recency.hpp"

namespace l2lens {

// Mean lines of a set over all sets' mean, for the fullest class of sets down to the emptiest, when a
// partition is full of what a square block of tiles loads in a row of steps.
std::array<double, kSetClasses> set_fullness(const Machine& machine, const Work& work, const AddressMap& map);

}  // namespace l2lens
