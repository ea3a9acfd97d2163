// SPDX-License-Identifier: Apache-2.0
#include "load/kernel_params.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>

#include <lua.hpp>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "load/lua_values.hpp"

namespace l2lens {
namespace {

constexpr std::size_t kMostParams = 64;

std::string joined(const std::vector<std::string>& words) {
    std::string text;
    for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
    return text;
}

// Numbers as a user writes them: 8192, not 8192.0.
std::string text_of(lua_State* lua, int index) {
    if (lua_type(lua, index) == LUA_TBOOLEAN) return lua_toboolean(lua, index) != 0 ? "true" : "false";
    if (const std::optional<std::int64_t> whole = whole_number(lua, index)) return std::to_string(*whole);
    lua_pushvalue(lua, index);  // tolstring would change the value in place
    std::size_t length = 0;
    const char* const text = lua_tolstring(lua, -1, &length);
    std::string copy = text == nullptr ? std::string() : std::string(text, length);
    lua_pop(lua, 1);
    return copy;
}

// Only digits: "1e3", "8k", "-1" and "" are no plain numbers.
std::optional<std::int64_t> plain_integer(const std::string& text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error == std::errc::result_out_of_range) return INT64_MAX;
    return value;
}

std::optional<double> finite_number(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || !std::isfinite(value)) return std::nullopt;
    return value;
}

// The value in its usual spelling ("007" is 7), or nothing when it is not allowed.
std::optional<std::string> accepted(const KernelParam& param, const std::string& text) {
    std::string value = text;
    if (param.type == KernelParam::Type::Integer) {
        const std::optional<std::int64_t> number = plain_integer(text);
        if (!number) return std::nullopt;
        value = std::to_string(*number);
        if (param.choices.empty() && (*number < param.minimum || *number > param.maximum))
            return std::nullopt;
    }
    if (param.type == KernelParam::Type::Number && !finite_number(text)) return std::nullopt;
    if (param.type == KernelParam::Type::Flag && text != "true" && text != "false") return std::nullopt;
    if (!param.choices.empty() && std::ranges::find(param.choices, value) == param.choices.end())
        return std::nullopt;
    return value;
}

KernelParam::Type type_of_default(lua_State* lua, int index, const std::string& where) {
    switch (lua_type(lua, index)) {
        case LUA_TNUMBER:
            return lua_isinteger(lua, index) != 0 ? KernelParam::Type::Integer : KernelParam::Type::Number;
        case LUA_TSTRING:
            return KernelParam::Type::Text;
        case LUA_TBOOLEAN:
            return KernelParam::Type::Flag;
        default:
            throw BadInput(where + ": the default must be a number, a string or true/false");
    }
}

void read_choices(lua_State* lua, KernelParam& param, const std::string& where) {
    const int type = lua_rawgeti(lua, -1, 4);
    if (type != LUA_TNIL && type != LUA_TTABLE)
        throw BadInput(where + ": the choices must be a list, {\"a\", \"b\"}");
    if (type == LUA_TTABLE) {
        for (lua_Integer i = 1; lua_rawgeti(lua, -1, i) != LUA_TNIL; ++i) {
            param.choices.push_back(text_of(lua, -1));
            lua_pop(lua, 1);
        }
        lua_pop(lua, 1);
    }
    lua_pop(lua, 1);
}

void read_limit(lua_State* lua, const char* key, std::int64_t& limit, const std::string& where) {
    if (lua_getfield(lua, -1, key) != LUA_TNIL) {
        const std::optional<std::int64_t> value = whole_number(lua, -1);
        if (!value || *value < 0) throw BadInput(where + ": " + key + " must be a whole number from 0");
        limit = *value;
    }
    lua_pop(lua, 1);
}

// The declaration at the top of the stack, which stays there.
KernelParam read_declaration(lua_State* lua, const std::string& file, lua_Integer number) {
    std::string where = file + ": params[" + std::to_string(number) + "]";
    if (!lua_istable(lua, -1)) throw BadInput(where + ": write {\"m\", 8192, \"rows of C\"}");
    KernelParam param;
    if (lua_rawgeti(lua, -1, 1) != LUA_TSTRING)
        throw BadInput(where + ": the first entry is the parameter's name, a string");
    param.name = lua_tostring(lua, -1);
    where += " '" + param.name + "'";
    if (param.name.empty() || param.name.find('=') != std::string::npos)
        throw BadInput(where + ": not a name");
    lua_rawgeti(lua, -2, 2);
    param.type = type_of_default(lua, -1, where);
    param.default_value = text_of(lua, -1);
    if (lua_rawgeti(lua, -3, 3) == LUA_TSTRING) param.meaning = lua_tostring(lua, -1);
    lua_pop(lua, 3);
    read_choices(lua, param, where);
    read_limit(lua, "min", param.minimum, where);
    read_limit(lua, "max", param.maximum, where);
    if (!accepted(param, param.default_value))
        throw BadInput(where + ": the default " + param.default_value + " is not " + param.domain());
    return param;
}

std::size_t position_of(const std::string& kernel, const std::vector<KernelParam>& params,
                        const std::string& name) {
    std::vector<std::string> names;
    for (const KernelParam& param : params) names.push_back(param.name);
    const auto found = std::ranges::find(names, name);
    if (found == names.end())
        throw BadInput(kernel + ": unknown parameter '" + name + "'" + suggestion(name, names));
    return static_cast<std::size_t>(found - names.begin());
}

}  // namespace

std::string KernelParam::domain() const {
    if (!choices.empty()) return "one of " + joined(choices);
    switch (type) {
        case Type::Integer:
            return "a plain whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum);
        case Type::Number:
            return "a number";
        case Type::Flag:
            return "true or false";
        case Type::Text:
            break;
    }
    return "a text";
}

std::vector<KernelParam> read_param_declarations(lua_State* lua, const std::string& file) {
    std::vector<KernelParam> params;
    if (!lua_istable(lua, -1)) throw BadInput(file + ": params must be a list of {name, default, meaning}");
    for (lua_Integer i = 1; lua_rawgeti(lua, -1, i) != LUA_TNIL; ++i) {
        KernelParam param = read_declaration(lua, file, i);
        const bool twice =
            std::ranges::any_of(params, [&](const KernelParam& p) { return p.name == param.name; });
        if (twice) throw BadInput(file + ": parameter '" + param.name + "' is declared twice");
        if (params.size() == kMostParams)
            throw BadInput(file + ": more than " + std::to_string(kMostParams) + " parameters");
        params.push_back(std::move(param));
        lua_pop(lua, 1);
    }
    lua_pop(lua, 2);
    return params;
}

ParamValues resolve_params(const std::string& kernel, const std::vector<KernelParam>& params,
                           const std::vector<std::string>& arguments) {
    ParamValues values;
    for (const KernelParam& param : params) values.push_back(param.default_value);
    std::vector<bool> given(params.size(), false);
    for (const std::string& argument : arguments) {
        const std::size_t equals = argument.find('=');
        if (equals == std::string::npos)
            throw BadInput(kernel + ": '" + argument + "': parameters are given as name=value");
        const std::size_t i = position_of(kernel, params, argument.substr(0, equals));
        const std::string text = argument.substr(equals + 1);
        const KernelParam& param = params[i];
        const std::optional<std::string> value = accepted(param, text);
        if (!value) throw BadInput(kernel + ": " + param.name + "='" + text + "' is not " + param.domain());
        if (given[i]) throw BadInput(kernel + ": " + param.name + " is given twice");
        given[i] = true;
        values[i] = *value;
    }
    return values;
}

void push_params(lua_State* lua, const std::vector<KernelParam>& params, const ParamValues& values) {
    lua_newtable(lua);
    for (std::size_t i = 0; i < params.size(); ++i) {
        switch (params[i].type) {
            case KernelParam::Type::Integer:
                lua_pushinteger(lua, plain_integer(values[i]).value_or(0));
                break;
            case KernelParam::Type::Number:
                lua_pushnumber(lua, finite_number(values[i]).value_or(0));
                break;
            case KernelParam::Type::Flag:
                lua_pushboolean(lua, values[i] == "true" ? 1 : 0);
                break;
            case KernelParam::Type::Text:
                lua_pushlstring(lua, values[i].data(), values[i].size());
                break;
        }
        lua_setfield(lua, -2, params[i].name.c_str());
    }
}

ParamValues read_params(lua_State* lua, int index, const std::vector<KernelParam>& params) {
    ParamValues values;
    for (const KernelParam& param : params) {
        lua_getfield(lua, index, param.name.c_str());
        values.push_back(text_of(lua, -1));
        lua_pop(lua, 1);
    }
    return values;
}

}  // namespace l2lens
