// SPDX-License-Identifier: Apache-2.0
#include "load/sandbox.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <new>
#include <utility>

#include <lua.hpp>

#include "base/bytes_text.hpp"
#include "base/error.hpp"

namespace l2lens {
namespace {

constexpr int kHookInterval = 1000;

// A refused allocation makes Lua collect its garbage and ask again, which takes a good part of a second on a
// full heap: a program that lives at the limit is ended rather than collected for ever.
constexpr int kRefusalsBeforeTheEnd = 6;

// Not here, on purpose: pcall, load, setmetatable, coroutine; string.rep (("").rep("", 1e18) never ends) and
// patterns (backtracking); table.sort and table.move (long runs inside one call); math.random (not the same
// twice); pairs (nor is its order).
struct Library {
    const char* name;
    lua_CFunction open;
    std::array<const char*, 16> functions;
};
constexpr std::array<Library, 4> kLibraries{{
    {LUA_GNAME, luaopen_base, {"assert", "error", "ipairs", "select", "tonumber", "tostring", "type"}},
    {LUA_MATHLIBNAME,
     luaopen_math,
     {"abs", "ceil", "exp", "floor", "fmod", "huge", "log", "max", "maxinteger", "min", "mininteger", "pi",
      "sqrt", "tointeger", "type", "ult"}},
    {LUA_STRLIBNAME, luaopen_string, {"byte", "char", "format", "len", "lower", "reverse", "sub", "upper"}},
    {LUA_TABLIBNAME, luaopen_table, {"concat", "insert", "pack", "remove", "unpack"}},
}};

int timed_call(lua_State* lua) {
    Sandbox::of(lua).check_clock(lua);
    return lua_tocfunction(lua, lua_upvalueindex(1))(lua);
}

// Pushes the field of the table at `from`, functions wrapped so that they look at the clock.
void push_allowed(lua_State* lua, int from, const char* name) {
    lua_getfield(lua, from, name);
    if (lua_iscfunction(lua, -1) != 0) lua_pushcclosure(lua, timed_call, 1);
}

// ceil(a / b) for whole numbers of either sign.
int cdiv(lua_State* lua) {
    const lua_Integer a = luaL_checkinteger(lua, 1);
    const lua_Integer b = luaL_checkinteger(lua, 2);
    if (b == 0) return luaL_error(lua, "cdiv(%I, 0): division by zero", a);
    if (b == -1) {
        lua_pushinteger(lua, static_cast<lua_Integer>(0 - static_cast<lua_Unsigned>(a)));
    } else {
        const lua_Integer quotient = a / b;
        lua_pushinteger(lua, quotient + (a % b != 0 && (a < 0) == (b < 0) ? 1 : 0));
    }
    return 1;
}

}  // namespace

std::string chunk_display_name(const std::string& path) {
    if (path.size() + 2 <= LUA_IDSIZE) return path;
    return path.substr(path.rfind('/') + 1);
}

Sandbox::Sandbox(const SandboxLimits& limits) : limits_(limits) {
    lua_ = lua_newstate(allocate, this);
    if (lua_ == nullptr) throw std::bad_alloc();
    *static_cast<Sandbox**>(lua_getextraspace(lua_)) = this;
    begin_call();
    total_end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                    std::chrono::duration<double>(limits_.seconds_total));
    open_libraries();
    lua_sethook(lua_, hook, LUA_MASKCOUNT, kHookInterval);
}

Sandbox::~Sandbox() {
    lua_close(lua_);
}

Sandbox& Sandbox::of(lua_State* lua) {
    return **static_cast<Sandbox**>(lua_getextraspace(lua));
}

void Sandbox::begin_call() {
    instructions_ = 0;
    call_end_ = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                   std::chrono::duration<double>(limits_.seconds_per_call));
}

void Sandbox::allow_more(double seconds) {
    total_end_ += std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// The libraries are opened as they are; a new global table then takes what is allowed, and the rest stays
// behind in the registry, out of reach.
void Sandbox::open_libraries() {
    lua_State* const lua = lua_;
    lua_newtable(lua);
    const int globals = lua_gettop(lua);
    for (const Library& library : kLibraries) {
        luaL_requiref(lua, library.name, library.open, 0);
        const int full = lua_gettop(lua);
        const bool base = std::strcmp(library.name, LUA_GNAME) == 0;
        if (!base) lua_newtable(lua);
        const int target = base ? globals : lua_gettop(lua);
        for (const char* function : library.functions) {
            if (function == nullptr) break;
            push_allowed(lua, full, function);
            lua_setfield(lua, target, function);
        }
        if (!base) lua_setfield(lua, globals, library.name);
        lua_settop(lua, globals);
    }
    // Methods of strings, ("x"):len(), go to the pruned table too.
    lua_pushliteral(lua, "");
    lua_getmetatable(lua, -1);
    lua_getfield(lua, globals, LUA_STRLIBNAME);
    lua_setfield(lua, -2, "__index");
    lua_settop(lua, globals);

    lua_getfield(lua, globals, LUA_MATHLIBNAME);
    for (const char* name : {"min", "max"}) {
        lua_getfield(lua, -1, name);
        lua_setfield(lua, globals, name);
    }
    lua_pushcfunction(lua, cdiv);
    lua_setfield(lua, globals, "cdiv");
    lua_settop(lua, globals);
    lua_rawseti(lua, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
}

bool Sandbox::refuses(const void* block, std::size_t old_bytes, std::size_t new_bytes) const {
    if (refusals_ >= kRefusalsBeforeTheEnd) return true;
    // For a new block Lua says in `old_bytes` what kind of object it is for.
    if (block == nullptr && old_bytes == LUA_TSTRING && new_bytes > limits_.string_bytes) return true;
    const std::size_t freed = block == nullptr ? 0 : old_bytes;
    return used_bytes_ - freed + new_bytes > limits_.memory_bytes;
}

void* Sandbox::allocate(void* self, void* block, std::size_t old_bytes, std::size_t new_bytes) {
    auto& sandbox = *static_cast<Sandbox*>(self);
    const std::size_t freed = block == nullptr ? 0 : old_bytes;
    if (new_bytes > freed && sandbox.refuses(block, old_bytes, new_bytes)) {
        ++sandbox.refusals_;
        return nullptr;
    }
    void* const moved = sandbox.moved(block, freed, new_bytes);
    if (moved != nullptr || new_bytes == 0) sandbox.used_bytes_ = sandbox.used_bytes_ - freed + new_bytes;
    return moved;
}

// As std::realloc, but a block of no bytes is nullptr, and small ones are spare ones.
void* Sandbox::moved(void* block, std::size_t old_bytes, std::size_t new_bytes) {
    constexpr std::size_t kSmall = SpareBlocks::kMostBytes;
    if (old_bytes > kSmall && new_bytes > kSmall) return std::realloc(block, new_bytes);
    void* to = nullptr;
    if (new_bytes > 0) {
        to = new_bytes > kSmall ? std::malloc(new_bytes) : spare_.take(new_bytes);
        if (to == nullptr) return nullptr;
    }
    if (old_bytes > 0) {
        if (to != nullptr) std::memcpy(to, block, std::min(old_bytes, new_bytes));
        old_bytes > kSmall ? std::free(block) : spare_.give_back(block, old_bytes);
    }
    return to;
}

void Sandbox::hook(lua_State* lua, lua_Debug*) {
    Sandbox& sandbox = of(lua);
    sandbox.instructions_ += kHookInterval;
    if (sandbox.instructions_ > sandbox.limits_.instructions_per_call) {
        sandbox.trip(lua, "runs too long: more instructions in one call than a kernel or an order needs");
    }
    sandbox.check_clock(lua);
}

void Sandbox::check_clock(lua_State* lua) {
    const Clock::time_point now = Clock::now();
    if (now > call_end_) trip(lua, "runs too long: more than two seconds in one call");
    if (now > total_end_) trip(lua, "runs too long in all");
}

void Sandbox::trip(lua_State* lua, const char* reason) {
    instructions_ = std::numeric_limits<std::int64_t>::max() - kHookInterval;
    call_end_ = Clock::time_point::min();
    lua_sethook(lua, hook, LUA_MASKCOUNT, 1);
    luaL_where(lua, 0);
    if (lua_rawlen(lua, -1) == 0) luaL_where(lua, 1);  // level 0 is a library function: its caller's line
    lua_pushstring(lua, reason);
    lua_concat(lua, 2);
    lua_error(lua);
    std::abort();  // lua_error does not return
}

void Sandbox::compile(const std::string& source, const std::string& name) {
    if (source.size() > limits_.source_bytes) {
        throw BadInput(name + ": " + bytes_text(static_cast<double>(source.size())) + " of Lua; at most " +
                       bytes_text(static_cast<double>(limits_.source_bytes)));
    }
    const std::string chunk = "=" + name;
    // "t": text only, since a hand-made binary chunk can crash the interpreter.
    if (luaL_loadbufferx(lua_, source.data(), source.size(), chunk.c_str(), "t") != LUA_OK) lua_error(lua_);
}

void Sandbox::run(const std::string& name, const std::string& source) {
    begin_call();
    protect(name, [&](lua_State* lua) {
        compile(source, name);
        lua_call(lua, 0, 0);
    });
}

int Sandbox::run_body(lua_State* lua) {
    Sandbox& sandbox = of(lua);
    const auto& body = *static_cast<const std::function<void(lua_State*)>*>(lua_touserdata(lua, 1));
    lua_settop(lua, 0);
    // Lua's own errors are thrown as a pointer, which no handler of std::exception catches.
    try {
        body(lua);
        return 0;
    } catch (const std::exception&) {
        sandbox.pending_ = std::current_exception();
    }
    return luaL_error(lua, "stopped");
}

void Sandbox::protect(const std::string& name, const std::function<void(lua_State*)>& body) {
    lua_settop(lua_, 0);
    lua_pushcfunction(lua_, run_body);
    lua_pushlightuserdata(lua_, const_cast<void*>(static_cast<const void*>(&body)));
    const int status = lua_pcall(lua_, 1, 0, 0);
    if (status != LUA_OK) report(status, name);
}

void Sandbox::report(int status, const std::string& name) {
    if (pending_) std::rethrow_exception(std::exchange(pending_, nullptr));
    if (status == LUA_ERRMEM) {
        throw BadInput(name + ": needs more memory than the " +
                       bytes_text(static_cast<double>(limits_.memory_bytes)) +
                       " a Lua file may use, or a string longer than " +
                       bytes_text(static_cast<double>(limits_.string_bytes)));
    }
    std::string message = "error without a message";
    if (lua_type(lua_, -1) == LUA_TSTRING) {
        std::size_t length = 0;
        const char* const text = lua_tolstring(lua_, -1, &length);
        message.assign(text, std::min<std::size_t>(length, 2000));
        std::replace_if(
            message.begin(), message.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
    }
    const bool placed = message.compare(0, name.size() + 1, name + ":") == 0;
    throw BadInput(placed ? message : name + ": " + message);
}

}  // namespace l2lens
