// SPDX-License-Identifier: Apache-2.0
#include "load/sandbox.hpp"

#include <chrono>
#include <string>

#include "base/error.hpp"
#include "support/catch.hpp"
#include "support/complaint.hpp"

using namespace l2lens;

namespace {

void run(const std::string& source) {
    Sandbox().run("test.lua", source);
}

std::string error_of(const std::string& source) {
    return test::complaint_of([&] { run(source); });
}

}  // namespace

TEST_CASE("Ordinary Lua runs: arithmetic, tables, string.format, cdiv, min, max") {
    CHECK_NOTHROW(run(R"(
        assert(cdiv(7, 2) == 4 and cdiv(8, 2) == 4 and cdiv(-7, 2) == -3 and cdiv(7, -2) == -3 and cdiv(0, 5) == 0)
        assert(cdiv(math.mininteger, -1) == math.mininteger)
        assert(min(3, 1, 2) == 1 and max(3, 1, 2) == 3 and math.floor(2.5) == 2)
        assert(7 // 2 == 3 and -7 // 2 == -4 and -7 % 3 == 2)       -- as Python
        local t = {}
        for i = 1, 10 do table.insert(t, i) end
        assert(#t == 10 and table.concat(t, ',') == '1,2,3,4,5,6,7,8,9,10' and select('#', table.unpack(t)) == 10)
        for i, v in ipairs(t) do assert(i == v) end
        assert(string.format('%d x %5.1f %s', 3, 2.5, 'a') == '3 x   2.5 a' and ('AbC'):lower() == 'abc')
    )"));
}

TEST_CASE("Nothing that reaches the system or defeats the limits is there") {
    for (const char* name : {"io",
                             "os",
                             "require",
                             "package",
                             "debug",
                             "load",
                             "loadstring",
                             "loadfile",
                             "dofile",
                             "pcall",
                             "xpcall",
                             "coroutine",
                             "setmetatable",
                             "getmetatable",
                             "rawset",
                             "collectgarbage",
                             "_G",
                             "print",
                             "utf8",
                             "next",
                             "string.rep",
                             "string.dump",
                             "string.find",
                             "string.match",
                             "string.gmatch",
                             "string.gsub",
                             "string.pack",
                             "table.sort",
                             "table.move",
                             "math.random",
                             "math.randomseed"}) {
        INFO(name);
        CHECK_NOTHROW(run("assert(" + std::string(name) + " == nil)"));
    }
    CHECK_NOTHROW(
        run("assert((''):len() == 0 and ('').rep == nil and ('').find == nil and ('').dump == nil)"));
    CHECK_NOTHROW(run("local e = _ENV; assert(e.io == nil and e.os == nil and e.load == nil)"));
}

TEST_CASE("Bytecode is refused") {
    CHECK_THAT(error_of("\x1bLua\x54"), ContainsSubstring("binary chunk"));
}

TEST_CASE("Errors carry file and line, whatever their value") {
    CHECK(error_of("\n\nlocal x = nil + 1")
              .starts_with("test.lua:3: attempt to perform arithmetic on a nil value"));
    CHECK(error_of("x = = 2").starts_with("test.lua:1: unexpected symbol"));
    CHECK(error_of("error('no luck')") == "test.lua:1: no luck");
    CHECK(error_of("error('no luck', 0)") == "test.lua: no luck");
    CHECK(error_of("error({})") == "test.lua: error without a message");
    CHECK(error_of("error('two\\nlines')") == "test.lua:1: two lines");
    CHECK(error_of("local x = 1 // 0") == "test.lua:1: attempt to divide by zero");
    CHECK(error_of("local x = 1 % 0").starts_with("test.lua:1: attempt to perform 'n%"));
    CHECK(error_of("\ncdiv(1, 0)") == "test.lua:2: cdiv(1, 0): division by zero");
    CHECK(error_of("string.format('%99999d', 1)").find("test.lua:1:") == 0);
}

TEST_CASE("Bombs end in time, with one line") {
    const std::string bomb = GENERATE(
        std::string("while true do end"),                             // instructions
        std::string("local function f() return f() end f()"),         // endless tail call
        std::string("local function f() return 1 + f() end f()"),     // stack
        std::string("local s = 'x' while true do s = s .. s end"),    // string
        std::string("local t = {} for i = 1, 1e18 do t[i] = i end"),  // table
        std::string("local t = {} while true do t = {t} end"),        // many small objects
        std::string("local t = {} for i = 1, 1e6 do t[i] = 'aaaaaaaaaaaaaaaa' end\n"
                    "while true do table.concat(t) end"),  // strings from C
        std::string("local t = {} for i = 1, 2e6 do t[i] = i end\n"
                    "while true do table.insert(t, 1, 0) table.remove(t, 1) end"),  // long C calls
        std::string("local s = 'x' for i = 1, 19 do s = s .. s end\n"
                    "while true do local a = s:upper():lower():reverse() end"),  // long C calls on strings
        std::string("local s = 'x' for i = 1, 19 do s = s .. s end\n"
                    "local t = s .. 'a' while true do local b = s < t end"),    // comparisons
        std::string("table.unpack({}, 1, 1e8)"),                                //
        std::string("local t = {} for i = 1, 1e9 do t[i % 1000003] = {} end"),  // garbage near the limit
        std::string("goto a ::b:: goto c ::a:: goto b ::c:: while 1 do end"));
    INFO(bomb);
    const auto begin = std::chrono::steady_clock::now();
    const std::string error = error_of(bomb);
    const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    CHECK(error.starts_with("test.lua:"));
    CHECK(error.find('\n') == std::string::npos);
    CHECK(seconds < 3);
}

TEST_CASE("Deeply nested source and huge source are refused") {
    CHECK(error_of("x = " + std::string(100000, '(')) == "test.lua: C stack overflow");
    CHECK_THAT(error_of(std::string(300000, ' ')), ContainsSubstring("at most 256 KiB"));
}

TEST_CASE("A program that fills the memory and then lives at the limit is ended") {
    const auto begin = std::chrono::steady_clock::now();
    const std::string error = error_of(
        "local t, n = {}, 0\n"
        "for i = 1, 400000 do t[i] = {i} end\n"
        "while true do n = n + 1 t[n % 400000 + 1] = {n, {n}} local g = {n, n, n, n, n, n, n, n} end");
    CHECK(error.starts_with("test.lua:"));
    CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 3);
}

TEST_CASE("C++ exceptions pass through Lua as they are") {
    Sandbox sandbox;
    CHECK_THROWS_AS(sandbox.protect("test.lua", [](lua_State*) { throw Interrupted(); }), Interrupted);
    CHECK_NOTHROW(sandbox.run("test.lua", "assert(1 + 1 == 2)"));
}

TEST_CASE("The time of all calls together is limited too") {
    SandboxLimits limits;
    limits.seconds_total = 0.2;
    Sandbox sandbox(limits);
    const auto begin = std::chrono::steady_clock::now();
    const std::string error = test::complaint_of([&] {
        for (;;) sandbox.run("test.lua", "for i = 1, 100000 do end");
    });
    CHECK(error == "test.lua:1: runs too long in all");
    CHECK(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() < 2);
}
