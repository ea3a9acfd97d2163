// SPDX-License-Identifier: Apache-2.0
// stream_k_plan(kind, tiles, k_steps, ctas) of a kernel file: who computes which K range of which tile, by
// CUTLASS's rules (order/stream_k.hpp). `kind` is "cutlass2" or "sm90"; `ctas` run at once, one an SM.
// Returns for each CTA, in launch order, a list of {tile, k_begin, k_end} in the order in which it works
// through them, all from 0; then how many of the tiles, the first ones, are divided at all.
#pragma once

struct lua_State;

namespace l2lens {

// Raises a Lua error, with the file's line, for what is no plan.
int lua_stream_k_plan(lua_State* lua);

}  // namespace l2lens
