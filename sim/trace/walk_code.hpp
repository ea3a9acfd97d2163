// SPDX-License-Identifier: Apache-2.0
// Box walks in the frames of a trace's walk table.
#pragma once

#include <span>

#include "trace/bytes.hpp"
#include "trace/records.hpp"

namespace l2lens {

void encode_walk(ByteWriter& out, const TraceWalk& walk, int rank);

// Refuses walks whose boxes could not be expanded: of unknown tensors, of more requests than a box may have,
// or so far outside that coordinates overflow.
TraceWalk decode_walk(ByteReader& in, std::span<const Tensor> tensors);

}  // namespace l2lens
