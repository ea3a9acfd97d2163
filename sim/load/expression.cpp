// SPDX-License-Identifier: Apache-2.0
#include "load/expression.hpp"

#include <cmath>

#include <lua.hpp>

#include "base/error.hpp"
#include "load/sandbox.hpp"

namespace l2lens {
namespace {

void push(lua_State* lua, double number) {
    lua_pushnumber(lua, number);
}

void push(lua_State* lua, const std::string& text) {
    lua_pushlstring(lua, text.data(), text.size());
}

void push(lua_State* lua, const ValueTree& tree) {
    luaL_checkstack(lua, 3, nullptr);
    lua_newtable(lua);
    for (const auto& [name, value] : tree.entries) {
        push(lua, name);
        std::visit([&](const auto& held) { push(lua, held); }, value);
        lua_settable(lua, -3);
    }
}

ExpressionValue result(lua_State* lua, const std::string& where, const std::string& expression) {
    if (lua_type(lua, -1) == LUA_TSTRING) return std::string(lua_tostring(lua, -1));
    if (lua_type(lua, -1) == LUA_TNUMBER && std::isfinite(lua_tonumber(lua, -1)))
        return lua_tonumber(lua, -1);
    throw BadInput(where + ": '" + expression + "' gives neither a number nor text");
}

}  // namespace

std::vector<ExpressionValue> evaluate_expressions(const std::string& where, const ValueTree& names,
                                                  const std::vector<std::string>& expressions) {
    std::vector<ExpressionValue> values;
    Sandbox sandbox;
    sandbox.protect(where, [&](lua_State* lua) {
        for (const auto& [name, value] : names.entries) {
            std::visit([&](const auto& held) { push(lua, held); }, value);
            lua_setglobal(lua, name.c_str());
        }
        for (const std::string& expression : expressions) {
            sandbox.begin_call();
            sandbox.compile("return " + expression, where);
            lua_call(lua, 0, 1);
            values.push_back(result(lua, where, expression));
            lua_pop(lua, 1);
        }
    });
    return values;
}

}  // namespace l2lens
