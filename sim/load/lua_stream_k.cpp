// SPDX-License-Identifier: Apache-2.0
#include "load/lua_stream_k.hpp"

#include <string>

#include <lua.hpp>

#include "base/error.hpp"
#include "load/lua_values.hpp"
#include "order/stream_k.hpp"

namespace l2lens {
namespace {

// A plan's list is as long as there are tiles; Lua's memory would be full with fewer.
constexpr Index kMostPlanned = Index{1} << 20;

Index whole_argument(lua_State* lua, int index) {
    const auto value = whole_number(lua, index);
    luaL_argcheck(lua, value.has_value(), index, "a whole number is needed");
    return *value;
}

WorkPlan plan_of(const std::string& kind, Index tiles, Index k_steps, Index ctas) {
    if (kind == "cutlass2") return cutlass2_stream_k_plan(tiles, k_steps, ctas, 1);
    Sm90StreamK settings;
    settings.wave = ctas;
    if (kind == "sm90") return sm90_stream_k_plan(tiles, k_steps, settings);
    throw BadInput("stream_k_plan: '" + kind + "' is no plan; there are: cutlass2 sm90");
}

void push_item(lua_State* lua, const WorkItem& item) {
    lua_createtable(lua, 3, 0);
    int field = 0;
    for (const Index value : {item.tile, item.k_begin, item.k_end}) {
        lua_pushinteger(lua, value);
        lua_rawseti(lua, -2, ++field);
    }
}

// A list of lists: items come unit by unit.
void push_items(lua_State* lua, const WorkPlan& plan) {
    lua_newtable(lua);
    for (const WorkItem& item : plan.items) {
        if (lua_rawgeti(lua, -1, item.unit + 1) != LUA_TTABLE) {
            lua_pop(lua, 1);
            lua_newtable(lua);
            lua_pushvalue(lua, -1);
            lua_rawseti(lua, -3, item.unit + 1);
        }
        push_item(lua, item);
        lua_rawseti(lua, -2, static_cast<lua_Integer>(lua_rawlen(lua, -2)) + 1);
        lua_pop(lua, 1);
    }
}

}  // namespace

int lua_stream_k_plan(lua_State* lua) {
    const std::string kind = luaL_checkstring(lua, 1);
    WorkPlan plan;
    std::string problem;
    if (whole_argument(lua, 2) > kMostPlanned)
        return luaL_error(lua, "stream_k_plan: more than %I tiles", static_cast<lua_Integer>(kMostPlanned));
    try {
        plan = plan_of(kind, whole_argument(lua, 2), whole_argument(lua, 3), whole_argument(lua, 4));
    } catch (const BadInput& error) {
        problem = error.what();
    }
    if (!problem.empty()) return luaL_error(lua, "%s", problem.c_str());
    push_items(lua, plan);
    lua_pushinteger(lua, plan.stream_k_tiles);
    return 2;
}

}  // namespace l2lens
