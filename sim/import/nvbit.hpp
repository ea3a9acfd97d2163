// SPDX-License-Identifier: Apache-2.0
// Traces of one kernel as Accel-Sim's NVBit tracer writes them (kernel-N.traceg): a head of "-name = value"
// lines, then CTA by CTA and warp by warp one SASS instruction a line,
//
//   PC mask dests [regs] OPCODE sources [regs] width [format addresses...]
//
// with the addresses of the active lanes listed (0), as base and stride (1) or as base and differences (2).
// Versions of the format from 3 on, as accel-sim-framework reads them; bulk copies (UTMALDG) are refused.
#pragma once

#include <iosfwd>
#include <string>

#include "import/warp_access.hpp"

namespace l2lens {

// Calls visit for each access to global memory; local, shared and constant memory are left out, and so are
// generic accesses to the windows of the first two. Throws BadInput, "NAME:LINE: what".
ForeignLaunch read_nvbit(std::istream& in, const std::string& name, const AccessVisitor& visit);

}  // namespace l2lens
