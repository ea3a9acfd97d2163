// SPDX-License-Identifier: Apache-2.0
// Is this machine possible, and how does it differ from another?
#pragma once

#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "machine/topology.hpp"

namespace l2lens {

// Values that cannot be together, each with the parameter to look at; empty for a machine that can be
// simulated.
std::vector<Problem> check(const Machine& machine);

struct Difference {
    std::string key;
    std::string a;  // as value_text writes them
    std::string b;
};

// The parameters in which two machines differ, in the order of the parameter table.
std::vector<Difference> diff(const Machine& a, const Machine& b);

}  // namespace l2lens
