// SPDX-License-Identifier: Apache-2.0
// How bytes are moved, as far as the L2 can tell, in one byte of a frame: the same bits for the boxes of a
// walk and for a line.
//
//   bit 0      a write
//   bits 1-2   path
//   bit 3      of a TMA row that begins inside a sector (lines: a walk's boxes tell by where they stand)
//   bits 4-5   cache hint
//   bit 6      the write is a reduction
//
// Programs that know fewer of these bits refuse a trace that needs them.
#pragma once

#include "kernel/kernel.hpp"
#include "memory/messages.hpp"
#include "trace/bytes.hpp"

namespace l2lens {

struct AccessForm {
    Operation operation = Operation::Read;
    Path path = Path::Tma;
    bool shifted = false;
    bool reduce = false;
    CacheHint hint = CacheHint::None;
};

void encode_form(ByteWriter& out, const AccessForm& form);

// Refuses unknown bits and paths, and what cannot be: reads that add, shifted rows that are not TMA's. `what`
// it is that has the form stands in the complaint.
AccessForm decode_form(ByteReader& in, const char* what);

}  // namespace l2lens
