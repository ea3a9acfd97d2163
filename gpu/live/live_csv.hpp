// SPDX-License-Identifier: Apache-2.0
// Live results in the format of the recorded files (traces/h200/*.csv), so that `validate --recorded` reads
// them back.
#pragma once

#include <iosfwd>
#include <span>
#include <string>

#include "gpu/live/live.hpp"

namespace l2lens::gpu {

std::string mode_name(LaunchMode mode);            // "grid", "static", "dynamic"
LaunchMode parse_launch_mode(const std::string&);  // throws BadInput

void write_live_header(std::ostream& out, const LiveResult& result);
void write_live_row(std::ostream& out, const LiveKernel& kernel, LaunchMode mode, const std::string& order,
                    const LiveResult& result);

// launch_id,row,column,sm,start_ns,end_ns
void write_schedule(std::ostream& out, std::span<const TileCoord> order, const LiveResult& result);

}  // namespace l2lens::gpu
