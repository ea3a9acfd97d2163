// SPDX-License-Identifier: Apache-2.0
#include "load/user_order.hpp"

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include <lua.hpp>

#include "base/error.hpp"
#include "base/file_roles.hpp"
#include "kernel/kernel.hpp"
#include "load/lua_values.hpp"
#include "load/sandbox.hpp"

namespace l2lens {
namespace {

constexpr std::string_view kLua = "lua:";
constexpr std::string_view kFile = "file:";
constexpr const char* kLuaName = "lua order";

constexpr double kSecondsPerCall = 10e-6;

void check_size(GridShape grid) {
    if (grid.rows < 1 || grid.columns < 1 || grid.tiles() > kMostTiles) {
        throw BadInput("an order of your own takes grids of 1 to " + std::to_string(kMostTiles) +
                       " tiles, not " + std::to_string(grid.rows) + " x " + std::to_string(grid.columns));
    }
}

// Pushes the chunk as a function of (pid, tm, tn): as an expression list if it is one, else as statements.
void compile_order(Sandbox& sandbox, lua_State* lua, const std::string& chunk) {
    const std::string arguments = "local pid, tm, tn = ...; ";
    const std::string expression = arguments + "return " + chunk;
    if (luaL_loadbufferx(lua, expression.data(), expression.size(), "=lua order", "t") == LUA_OK) return;
    const bool has_return = chunk.find("return") != std::string::npos;
    const std::string statements = arguments + chunk;
    if (!has_return) {
        if (luaL_loadbufferx(lua, statements.data(), statements.size(), "=lua order", "t") == LUA_OK)
            throw BadInput(std::string(kLuaName) + ": returns no tile; end with return row, column");
        lua_pop(lua, 1);
        lua_error(lua);  // what is wrong with the expression says more
    }
    lua_pop(lua, 1);
    sandbox.compile(statements, kLuaName);
}

std::int32_t coordinate(lua_State* lua, int index, const char* what, std::int64_t pid) {
    const std::optional<std::int64_t> value = whole_number(lua, index);
    if (!value || *value < INT32_MIN || *value > INT32_MAX) {
        const std::string shown = luaL_tolstring(lua, index, nullptr);
        throw BadInput(std::string(kLuaName) + ": pid " + std::to_string(pid) + ": the " + what + " is " +
                       shown + ", not a whole number of 32 bits");
    }
    return static_cast<std::int32_t>(*value);
}

// What the call at pid left above `base`.
TileCoord returned_tile(lua_State* lua, int base, std::int64_t pid) {
    const int values = lua_gettop(lua) - base;
    if (lua_isnoneornil(lua, base + 1) && lua_isnoneornil(lua, base + 2)) return kNoTile;
    if (values != 2) {
        throw BadInput(std::string(kLuaName) + ": pid " + std::to_string(pid) + " returns " +
                       std::to_string(values) + (values == 1 ? " value" : " values") +
                       "; return the tile's row and column, or nothing for a no-op CTA (beside other orders, "
                       "a lua: order needs an --order of its own)");
    }
    return {coordinate(lua, base + 1, "row", pid), coordinate(lua, base + 2, "column", pid)};
}

TileSequence lua_order(const std::string& chunk, GridShape grid, const OrderContext& context) {
    Sandbox sandbox;
    sandbox.allow_more(kSecondsPerCall * static_cast<double>(grid.tiles()));
    TileSequence tiles;
    tiles.reserve(static_cast<std::size_t>(grid.tiles()));
    sandbox.protect(kLuaName, [&](lua_State* lua) {
        lua_pushinteger(lua, context.sms);
        lua_setglobal(lua, "sms");
        lua_pushinteger(lua, context.xcds);
        lua_setglobal(lua, "xcds");
        compile_order(sandbox, lua, chunk);
        const int base = lua_gettop(lua);
        for (std::int64_t pid = 0; pid < grid.tiles(); ++pid) {
            lua_pushvalue(lua, base);
            lua_pushinteger(lua, pid);
            lua_pushinteger(lua, grid.rows);
            lua_pushinteger(lua, grid.columns);
            sandbox.begin_call();
            lua_call(lua, 3, LUA_MULTRET);
            tiles.push_back(returned_tile(lua, base, pid));
            lua_settop(lua, base);
        }
    });
    return tiles;
}

std::vector<std::string_view> words_of(std::string_view line) {
    std::vector<std::string_view> words;
    line = line.substr(0, line.find('#'));
    for (;;) {
        const std::size_t begin = line.find_first_not_of(" \t\r");
        if (begin == std::string_view::npos) return words;
        const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
        words.push_back(line.substr(begin, end - begin));
        line.remove_prefix(end);
    }
}

std::optional<std::int32_t> int32_of(std::string_view word) {
    std::int32_t value = 0;
    const auto [stop, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || stop != word.data() + word.size()) return std::nullopt;
    return value;
}

TileCoord tile_of_line(const std::vector<std::string_view>& words, const std::string& where) {
    if (words.size() == 1 && words[0] == "-") return kNoTile;
    const bool pair = words.size() == 2;
    const std::optional<std::int32_t> row = pair ? int32_of(words[0]) : std::nullopt;
    const std::optional<std::int32_t> column = pair ? int32_of(words[1]) : std::nullopt;
    if (!row || !column) throw BadInput(where + ": write \"row column\", or \"-\" for a no-op CTA");
    return {*row, *column};
}

// As `l2lens order show ORDER --csv` prints it: launch_id,row,column, the tile of a no-op CTA left out.
constexpr std::string_view kTableHeader = "launch_id,row,column";

// Of a table's line, in the order of launch ids, what a line without it would say.
std::string words_of_table(std::string_view line, std::int64_t launch, const std::string& where) {
    const std::size_t comma = line.find(',');
    const bool next = comma != std::string_view::npos && int32_of(line.substr(0, comma)) == launch;
    if (!next)
        throw BadInput(where + ": launch id " + std::to_string(launch) + " is to follow, as id,row,column");
    std::string words(line.substr(comma + 1));
    std::ranges::replace(words, ',', ' ');
    return words.find_first_not_of(" \t\r") == std::string::npos ? "-" : words;
}

TileSequence file_order(const std::string& path, GridShape grid) {
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored)) throw BadInput(path + ": is a folder, not a file");
    std::ifstream file(path);
    if (!file) throw BadInput(path + ": cannot be opened for reading");
    will_read(path);
    TileSequence tiles;
    std::string line;
    bool table = false;
    for (std::int64_t number = 1; std::getline(file, line); ++number) {
        const std::string where = path + ":" + std::to_string(number);
        if (number == 1 && line.starts_with(kTableHeader)) {
            table = true;
            continue;
        }
        if (words_of(line).empty()) continue;
        if (table) line = words_of_table(line, std::ssize(tiles), where);
        tiles.push_back(tile_of_line(words_of(line), where));
        if (std::ssize(tiles) > kMostTiles)
            throw BadInput(path + ": more than " + std::to_string(kMostTiles) + " lines");
    }
    const auto real = std::ranges::count_if(tiles, [](TileCoord tile) { return !(tile == kNoTile); });
    if (real != grid.tiles()) {
        throw BadInput(path + ": lists " + std::to_string(real) + " tiles; a grid of " +
                       std::to_string(grid.rows) + " x " + std::to_string(grid.columns) + " has " +
                       std::to_string(grid.tiles()));
    }
    return tiles;
}

std::string trimmed(const std::string& text) {
    const std::size_t begin = text.find_first_not_of(" \t");
    if (begin == std::string::npos) return "";
    return text.substr(begin, text.find_last_not_of(" \t") - begin + 1);
}

std::vector<std::string> split_at_commas(const std::string& text) {
    std::vector<std::string> parts;
    std::size_t begin = 0;
    for (;;) {
        const std::size_t comma = text.find(',', begin);
        parts.push_back(trimmed(text.substr(begin, comma - begin)));
        if (parts.back().empty()) throw BadInput("--order '" + text + "' has an empty name");
        if (comma == std::string::npos) return parts;
        begin = comma + 1;
    }
}

std::vector<std::string> expanded(const std::string& name) {
    if (name == "common") return {common_orders().begin(), common_orders().end()};
    if (name != "all") return {name};
    std::vector<std::string> all;
    for (const OrderInfo& info : order_catalogue()) all.push_back(info.usual);
    return all;
}

bool is_users_own(const std::string& name) {
    return name.starts_with(kLua) || name.starts_with(kFile);
}

}  // namespace

TileSequence resolve_order(const std::string& name, GridShape grid, const OrderContext& context) {
    if (!is_users_own(name)) return make_order(name, grid, context);
    check_size(grid);
    if (name.starts_with(kLua)) return lua_order(name.substr(kLua.size()), grid, context);
    return file_order(name.substr(kFile.size()), grid);
}

std::vector<std::string> split_order_list(const std::vector<std::string>& arguments) {
    std::vector<std::string> names;
    for (const std::string& argument : arguments) {
        const std::vector<std::string> parts =
            is_users_own(argument) ? std::vector<std::string>{argument} : split_at_commas(argument);
        for (const std::string& part : parts) {
            for (std::string& name : expanded(part)) {
                if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
            }
        }
    }
    return names;
}

}  // namespace l2lens
