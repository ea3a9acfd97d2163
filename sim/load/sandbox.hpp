// SPDX-License-Identifier: Apache-2.0
// Lua 5.4 for files and command lines that nobody has vetted: no way to the system, bounded memory and
// bounded time.
//
// A count hook alone is no bound: pcall loops swallow its error, and a single call into the string library
// can run for minutes. So users get no pcall, load, coroutine, metatable or string pattern; the hook stays
// tripped once it fired; and the library functions that remain look at the clock themselves.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <string>

#include "load/spare_blocks.hpp"

struct lua_State;
struct lua_Debug;

namespace l2lens {

struct SandboxLimits {
    std::size_t memory_bytes = std::size_t{64} << 20;
    std::size_t string_bytes = std::size_t{1} << 20;    // keeps each string operation below a millisecond
    std::size_t source_bytes = std::size_t{256} << 10;  // the compiler runs without the hook
    std::int64_t instructions_per_call = 100'000'000;
    double seconds_per_call = 2;
    double seconds_total = 10;
};

class Sandbox {
public:
    explicit Sandbox(const SandboxLimits& limits = {});
    ~Sandbox();
    Sandbox(const Sandbox&) = delete;
    Sandbox& operator=(const Sandbox&) = delete;

    // Runs `body` with Lua's errors caught: whatever goes wrong in it leaves as BadInput, with file:line
    // where Lua knows them. Inside, call into Lua and throw as you like. `name` stands before messages that
    // have no place.
    void protect(const std::string& name, const std::function<void(lua_State*)>& body);

    // Compiles `source` and pushes the function. Inside protect() only.
    void compile(const std::string& source, const std::string& name);

    // Compiles and runs a whole chunk as one call.
    void run(const std::string& name, const std::string& source);

    // The clock and the instruction count of one call start anew; the total goes on.
    void begin_call();

    // More time in total, for callers with many calls to make.
    void allow_more(double seconds);

    // Raises a Lua error when the time is up. For library functions, which the hook cannot interrupt.
    void check_clock(lua_State* lua);

    // The sandbox a state belongs to.
    static Sandbox& of(lua_State* lua);

private:
    using Clock = std::chrono::steady_clock;

    void* moved(void* block, std::size_t old_bytes, std::size_t new_bytes);
    static void* allocate(void* self, void* block, std::size_t old_bytes, std::size_t new_bytes);
    static void hook(lua_State* lua, lua_Debug*);
    static int run_body(lua_State* lua);
    bool refuses(const void* block, std::size_t old_bytes, std::size_t new_bytes) const;
    void open_libraries();
    [[noreturn]] void trip(lua_State* lua, const char* reason);
    [[noreturn]] void report(int status, const std::string& name);

    SandboxLimits limits_;
    SpareBlocks spare_;
    lua_State* lua_ = nullptr;
    std::size_t used_bytes_ = 0;
    int refusals_ = 0;
    std::int64_t instructions_ = 0;
    Clock::time_point call_end_;
    Clock::time_point total_end_;
    std::exception_ptr pending_;
};

// The name Lua shows before ":line:"; Lua would cut the front of a long path, so such a one keeps its last
// part only.
std::string chunk_display_name(const std::string& path);

}  // namespace l2lens
