// SPDX-License-Identifier: Apache-2.0
// Accesses of threads or warps as CSV, for any tool that can print them: a header and then one access a row,
//
//   cta,warp,instruction,op,address,bytes[,path]        0,3,17,R,0x7f4a00000080,16
//
// cta in launch order, warp of the CTA, instruction: how many of the warp's came before (rows of one warp and
// instruction are lanes of one access and are coalesced), op R, W or A (an atomic or a reduction), path ld
// (the default) or cp.async. Rows of a CTA stand together, cells may be quoted.
#pragma once

#include <iosfwd>
#include <string>

#include "import/warp_access.hpp"

namespace l2lens {

// Throws BadInput, "NAME:LINE: what".
ForeignLaunch read_access_csv(std::istream& in, const std::string& name, const AccessVisitor& visit);

}  // namespace l2lens
