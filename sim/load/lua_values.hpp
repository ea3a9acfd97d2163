// SPDX-License-Identifier: Apache-2.0
// Lua values as C++ ones.
#pragma once

#include <cstdint>
#include <optional>

struct lua_State;

namespace l2lens {

// The value at `index` when it is a number without a fraction: 7, and 7/2*2, which Lua makes 7.0. Not "7",
// NaN, 2^80.
std::optional<std::int64_t> whole_number(lua_State* lua, int index);

}  // namespace l2lens
