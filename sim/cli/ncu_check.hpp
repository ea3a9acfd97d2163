// SPDX-License-Identifier: Apache-2.0
// Does a file of Nsight Compute say each counter once, in a unit that its values can be read in? A value in
// an unknown unit would be taken as one in the base unit.
#pragma once

#include <string>

namespace l2lens::cli {

// For a file that gpu::read_ncu_csv reads. Looks at the counters of the table of metrics only. Throws
// BadInput with file, line and column for a unit that is not one of its counter's, and for a counter that a
// launch has twice.
void check_ncu(const std::string& file);

}  // namespace l2lens::cli
