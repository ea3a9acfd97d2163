// SPDX-License-Identifier: Apache-2.0
#include "load/lua_values.hpp"

#include <lua.hpp>

namespace l2lens {

std::optional<std::int64_t> whole_number(lua_State* lua, int index) {
    if (lua_type(lua, index) != LUA_TNUMBER) return std::nullopt;
    int is_whole = 0;
    const lua_Integer value = lua_tointegerx(lua, index, &is_whole);
    if (is_whole == 0) return std::nullopt;
    return value;
}

}  // namespace l2lens
