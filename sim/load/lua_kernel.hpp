// SPDX-License-Identifier: Apache-2.0
// What a kernel file calls and returns: tensor(), box(), sizeof(), stream_k_plan(), the kernel table and a
// tile's phases.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"

struct lua_State;

namespace l2lens {

class LuaKernel {
public:
    // `file` begins the messages.
    explicit LuaKernel(std::string file) : file_(std::move(file)) {}

    // Makes tensor(), box(), sizeof() and stream_k_plan() known to the file.
    void install(lua_State* lua);

    // Checks the table kernel() returned, at `index`. How many tables its `launches` has; 0: it is a launch
    // itself.
    std::size_t read_sequence(lua_State* lua, int index);

    // Reads the table of one launch, at `index`: everything but the programs.
    void read_kernel(lua_State* lua, int index);

    // Reads the phases a program returned, at `index`. `where` names the tile, called only for a message.
    template <class Where>
    Program read_program(lua_State* lua, int index, const Where& where) {
        std::string problem;
        Program program = read_phases(lua, index, problem);
        if (!problem.empty()) fail(where() + ": " + problem);
        return program;
    }

    Kernel kernel;

private:
    static LuaKernel& of(lua_State* lua);
    static int lua_tensor(lua_State* lua);
    static int lua_box(lua_State* lua);
    static int lua_sizeof(lua_State* lua);

    void check_fields(lua_State* lua, int index, const std::vector<std::string>& known) const;
    void read_grid(lua_State* lua);
    void read_cluster(lua_State* lua);
    void read_threads(lua_State* lua, int index);
    Program read_phases(lua_State* lua, int index, std::string& problem) const;
    Phase read_phase(lua_State* lua, std::string& problem) const;
    std::int64_t whole_field(lua_State* lua, int index, const char* key, std::int64_t fallback,
                             std::int64_t minimum, std::int64_t maximum) const;
    // From 0 to `most`, which stands in the message as `limit`.
    double number_field(lua_State* lua, int index, const char* key, double fallback, double most,
                        const char* limit) const;
    double number_field(lua_State* lua, int index, const char* key, double fallback) const;
    double cycles_field(lua_State* lua, int index, const char* key) const;
    double time_field(lua_State* lua, int index, const char* key, double fallback) const;
    bool flag_field(lua_State* lua, int index, const char* key) const;  // absent: false
    std::string text_field(lua_State* lua, int index, const char* key, const std::string& fallback) const;
    [[noreturn]] void fail(const std::string& message) const;

    std::string file_;
    Path path_ = Path::Tma;
    bool tensors_complete_ = false;
};

// Bytes of "bf16", "fp8", ...; 0 for an unknown type.
int element_bytes(const std::string& type);

}  // namespace l2lens
