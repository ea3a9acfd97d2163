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

// run,launch_id,sm,start_ns,end_ns as in traces/h200/schedules.csv; `run` names the launch. Rows only:
// several launches may share a file under one header.
void write_schedule_header(std::ostream& out);
void write_schedule(std::ostream& out, const std::string& run, const LiveResult& result);

}  // namespace l2lens::gpu
