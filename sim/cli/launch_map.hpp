// SPDX-License-Identifier: Apache-2.0
// Which launch of a profiled program is which kernel of ours: --as 'REGEX=gemm m=4096 order=group_m:8', or
// the same as a file of [[launch]] tables with `match` and `as`.
#pragma once

#include <regex>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "report/recorded_csv.hpp"

namespace l2lens::cli {

struct LaunchRule {
    std::string where;   // "--as 'gemm.*=...'" or "map.toml:3"
    std::regex pattern;  // ECMAScript, found anywhere in the name the profiler prints
    RecordedRow launch;  // kernel, params, order, mode; nothing measured
};

// --as splits at its first '=': in a regular expression, write \x3d for one. Right of it stand a kernel and
// param=value words; order= is required, mode= may be among them; an order that begins with lua: takes the
// rest. Every kernel, parameter and order is tried on `machine`. Throws BadInput.
std::vector<LaunchRule> launch_rules(const std::vector<std::string>& as, const std::string& map_file,
                                     const Machine& machine);

// The first rule that matches, or nullptr.
const LaunchRule* find_rule(const std::vector<LaunchRule>& rules, const std::string& kernel_name);

}  // namespace l2lens::cli
