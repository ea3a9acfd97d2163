// SPDX-License-Identifier: Apache-2.0
// Reads what Nsight Compute prints: `ncu --csv --page raw` (a launch a row, metrics as columns, units in the
// row below the header) and `ncu --csv --metrics ...` (a metric a row).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "gpu/counters/imported_launch.hpp"

namespace l2lens::gpu {

// Launches in file order. Scaled values (Mbyte, usecond, Ghz) come back in bytes, nanoseconds and Hz; "n/a"
// and empty cells are left out. Throws BadInput with line and column for anything else that is not what ncu
// writes.
std::vector<ImportedLaunch> parse_ncu_csv(const std::string& name, std::string_view text);
std::vector<ImportedLaunch> read_ncu_csv(const std::string& path);

// What a value in `unit` must be multiplied by. ncu scales bytes, seconds and hertz ("--print-units auto",
// Nsight Compute CLI documentation); counts may be scaled as they are (Ksector, Msector), bytes also by
// powers of 1024 (MiB). Other units have the factor 1.
double ncu_unit_factor(std::string_view unit);

}  // namespace l2lens::gpu
