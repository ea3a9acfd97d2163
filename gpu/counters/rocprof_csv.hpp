// SPDX-License-Identifier: Apache-2.0
// Reads what rocprofv3 writes with --pmc: NAME_counter_collection.csv, a counter of a dispatch a row.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu/counters/imported_launch.hpp"

namespace l2lens::gpu {

// Dispatches in file order, with their counters and, where there are time stamps, "duration_ns". A counter
// given twice for one dispatch is an error, as is a dispatch whose kernel changes. Throws BadInput with line
// and column.
std::vector<ImportedLaunch> parse_rocprof_csv(const std::string& name, std::string_view text);
std::vector<ImportedLaunch> read_rocprof_csv(const std::string& path);

// rocprofv3 runs the program once per pmc line, a file each (pmc_1/, pmc_2/, ...): the i-th dispatch of every
// pass is the same launch. Throws BadInput when the passes differ in their kernels.
std::vector<ImportedLaunch> merge_rocprof_passes(const std::vector<std::vector<ImportedLaunch>>& passes);

}  // namespace l2lens::gpu
