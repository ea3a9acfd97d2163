// SPDX-License-Identifier: Apache-2.0
#include "load/lua_kernel.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <lua.hpp>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "load/lua_box.hpp"
#include "load/lua_stream_k.hpp"
#include "load/lua_values.hpp"

namespace l2lens {
namespace {

const std::vector<std::string> kKernelFields{"title",
                                             "grid",
                                             "program",
                                             "warps",
                                             "threads",
                                             "registers",
                                             "shared_memory",
                                             "stages",
                                             "pipeline",
                                             "math",
                                             "path",
                                             "cluster",
                                             "prologue_ns",
                                             "prologue_jitter_ns",
                                             "next_tile_ns",
                                             "epilogue_ns",
                                             "epilogue_jitter_ns",
                                             "epilogue_overlaps",
                                             "store_buffer",
                                             "release_cycles",
                                             "release_jitter_cycles",
                                             "load_interval_cycles",
                                             "step_gap_cycles",
                                             "math_jitter_cycles",
                                             "pace_spread",
                                             "fences_per_tile",
                                             "fences_per_cta"};
// Of a table with several launches: the rest stands in each of them.
const std::vector<std::string> kSequenceFields{"title", "launches"};
const std::vector<std::string> kPhaseFields{"count", "loads", "stores", "flops", "cycles"};

constexpr int kWarp = 32;
constexpr std::size_t kMostTensors = 32;
constexpr lua_Integer kMostPhases = 4096;
constexpr std::size_t kMostOfSequence = 64;
constexpr lua_Integer kMostBoxes = 256;
constexpr int kMostCtasOfCluster = 16;  // CUDA's limit, and that only where a kernel asks for it
constexpr double kMostWork = 1e18;

// What a kernel takes from start to first load and from last math to exit when its file does not say: an
// H200's Triton GEMM (traces/h200/gemm.csv, fitted to the time of a CTA against K).
constexpr double kPrologueNs = 600;
constexpr double kEpilogueNs = 700;
// Both are a microsecond or so, and what a step takes beside its math is less. Time in which nothing happens
// is simulated window by window: a second of it takes a minute, for each wave.
constexpr double kMostOfTile = 1e6;  // ns, or SM cycles

std::string type_name(lua_State* lua, int index) {
    return lua_typename(lua, lua_type(lua, index));
}

// A wrong value as a message has it: a number as Lua writes it, else its type.
std::string shown(lua_State* lua, int index) {
    if (lua_type(lua, index) != LUA_TNUMBER) return type_name(lua, index);
    std::string text = luaL_tolstring(lua, index, nullptr);
    lua_pop(lua, 1);
    return text;
}

// A key as Lua writes it: of {x = 1} x, of {[2] = 1} [2].
std::string key_text(lua_State* lua, int index) {
    if (lua_type(lua, index) == LUA_TSTRING) return lua_tostring(lua, index);
    const std::optional<std::int64_t> place = whole_number(lua, index);
    return "[" + (place ? std::to_string(*place) : type_name(lua, index)) + "]";
}

// Hands each entry of the list at `index`, at the top of the stack, to entry(place), in any order. The key of
// one that is not among 1 to `count`, "" for a list of nothing else.
template <class Entry>
std::string for_each_entry(lua_State* lua, int index, lua_Integer count, Entry&& entry) {
    const int table = lua_absindex(lua, index);
    std::string beside;
    for (lua_pushnil(lua); lua_next(lua, table) != 0; lua_pop(lua, 1)) {
        const std::optional<std::int64_t> place = whole_number(lua, -2);
        if (place && *place >= 1 && *place <= count) {
            entry(*place);
        } else if (beside.empty()) {
            beside = key_text(lua, -2);
        }
    }
    return beside;
}

// The boxes of a loads or stores field at the top of the stack: a list, or just one.
void read_boxes(lua_State* lua, std::vector<BoxWalk>& boxes, std::string& problem) {
    if (const BoxWalk* single = to_box(lua, -1)) {
        boxes.push_back(*single);
        return;
    }
    if (!lua_istable(lua, -1)) {
        problem = "must be a list of box(...), not a " + type_name(lua, -1);
        return;
    }
    const auto count = static_cast<lua_Integer>(lua_rawlen(lua, -1));
    if (count > kMostBoxes) {
        problem = "has more than " + std::to_string(kMostBoxes) + " boxes";
        return;
    }
    boxes.resize(static_cast<std::size_t>(count));
    const std::string beside = for_each_entry(lua, -1, count, [&](std::int64_t place) {
        if (const BoxWalk* box = to_box(lua, -1)) {
            boxes[static_cast<std::size_t>(place - 1)] = *box;
        } else if (problem.empty()) {
            problem = "entry " + std::to_string(place) + " must be a box(...), not a " + type_name(lua, -1);
        }
    });
    if (!beside.empty())
        problem =
            "has an entry '" + beside + "' beside its list; write {box(...), box(...)}, no names, no gaps";
}

std::optional<double> amount(lua_State* lua, int index) {
    if (lua_type(lua, index) != LUA_TNUMBER) return std::nullopt;
    const double value = lua_tonumber(lua, index);
    if (!(value >= 0 && value <= kMostWork)) return std::nullopt;  // NaN too
    return value;
}

bool stays_in_range(const BoxWalk& box, int rank, std::int64_t count) {
    for (std::size_t d = 0; d < static_cast<std::size_t>(rank); ++d) {
        std::int64_t last = 0;
        if (__builtin_mul_overflow(box.step[d], count, &last) ||
            __builtin_add_overflow(last, box.start[d], &last) || std::abs(last) > kMostCoordinate)
            return false;
    }
    return true;
}

}  // namespace

int element_bytes(const std::string& type) {
    static const std::vector<std::pair<std::string, int>> kSizes{{"bf16", 2},  {"fp16", 2}, {"fp8", 1},
                                                                 {"int8", 1},  {"tf32", 4}, {"fp32", 4},
                                                                 {"int32", 4}, {"fp64", 8}};
    for (const auto& [name, bytes] : kSizes)
        if (name == type) return bytes;
    return 0;
}

void LuaKernel::fail(const std::string& message) const {
    throw BadInput(file_ + ": " + message);
}

LuaKernel& LuaKernel::of(lua_State* lua) {
    return *static_cast<LuaKernel*>(lua_touserdata(lua, lua_upvalueindex(1)));
}

void LuaKernel::install(lua_State* lua) {
    const std::array<std::pair<const char*, lua_CFunction>, 4> functions{
        {{"tensor", lua_tensor},
         {"box", lua_box},
         {"sizeof", lua_sizeof},
         {"stream_k_plan", lua_stream_k_plan}}};
    for (const auto& [name, function] : functions) {
        lua_pushlightuserdata(lua, this);
        lua_pushcclosure(lua, function, 1);
        lua_setglobal(lua, name);
    }
}

int LuaKernel::lua_tensor(lua_State* lua) {
    LuaKernel& self = of(lua);
    if (self.tensors_complete_) return luaL_error(lua, "tensor() belongs in kernel(), not in program()");
    if (self.kernel.tensors.size() == kMostTensors)
        return luaL_error(lua, "more than %d tensors", static_cast<int>(kMostTensors));
    self.kernel.tensors.push_back(check_tensor(lua));
    push_tensor(lua, static_cast<int>(self.kernel.tensors.size()) - 1);
    return 1;
}

int LuaKernel::lua_box(lua_State* lua) {
    const LuaKernel& self = of(lua);
    push_box(lua, check_box(lua, self.kernel.tensors, self.path_));
    return 1;
}

int LuaKernel::lua_sizeof(lua_State* lua) {
    const char* const type = luaL_checkstring(lua, 1);
    const int bytes = element_bytes(type);
    if (bytes == 0) return luaL_error(lua, "sizeof: unknown element type '%s'", type);
    lua_pushinteger(lua, bytes);
    return 1;
}

std::int64_t LuaKernel::whole_field(lua_State* lua, int index, const char* key, std::int64_t fallback,
                                    std::int64_t minimum, std::int64_t maximum) const {
    std::int64_t value = fallback;
    if (lua_getfield(lua, index, key) != LUA_TNIL) {
        const std::optional<std::int64_t> given = whole_number(lua, -1);
        if (!given || *given < minimum || *given > maximum) {
            fail("kernel(): " + std::string(key) + " is " + shown(lua, -1) +
                 "; it must be a whole number from " + std::to_string(minimum) + " to " +
                 std::to_string(maximum));
        }
        value = *given;
    }
    lua_pop(lua, 1);
    return value;
}

double LuaKernel::number_field(lua_State* lua, int index, const char* key, double fallback, double most,
                               const char* limit) const {
    double value = fallback;
    if (lua_getfield(lua, index, key) != LUA_TNIL) {
        const std::optional<double> given = amount(lua, -1);
        if (!given || *given > most) {
            fail("kernel(): " + std::string(key) + " is " + shown(lua, -1) +
                 "; it must be a number from 0 to " + limit);
        }
        value = *given;
    }
    lua_pop(lua, 1);
    return value;
}

double LuaKernel::number_field(lua_State* lua, int index, const char* key, double fallback) const {
    return number_field(lua, index, key, fallback, 1e9, "1e9");
}

double LuaKernel::cycles_field(lua_State* lua, int index, const char* key) const {
    return number_field(lua, index, key, 0, kMostOfTile, "1e6 cycles");
}

double LuaKernel::time_field(lua_State* lua, int index, const char* key, double fallback) const {
    return number_field(lua, index, key, fallback, kMostOfTile, "1e6 ns (1 ms)");
}

bool LuaKernel::flag_field(lua_State* lua, int index, const char* key) const {
    const int type = lua_getfield(lua, index, key);
    if (type != LUA_TNIL && type != LUA_TBOOLEAN)
        fail("kernel(): " + std::string(key) + " must be true or false");
    const bool value = lua_toboolean(lua, -1) != 0;
    lua_pop(lua, 1);
    return value;
}

std::string LuaKernel::text_field(lua_State* lua, int index, const char* key,
                                  const std::string& fallback) const {
    std::string value = fallback;
    if (const int type = lua_getfield(lua, index, key); type != LUA_TNIL) {
        if (type != LUA_TSTRING)
            fail("kernel(): " + std::string(key) + " must be a string, not a " + type_name(lua, -1));
        value = lua_tostring(lua, -1);
    }
    lua_pop(lua, 1);
    return value;
}

void LuaKernel::read_grid(lua_State* lua) {
    static constexpr const char* kForm =
        "grid must be two to four axes, slowest first: {{\"m\", 64}, {\"n\", 64}}";
    if (!lua_istable(lua, -1)) fail(std::string("kernel(): ") + kForm);
    const auto axes = static_cast<lua_Integer>(lua_rawlen(lua, -1));
    if (axes < 2 || axes > 4) fail(std::string("kernel(): ") + kForm);
    for (lua_Integer i = 1; i <= axes; ++i) {
        if (lua_rawgeti(lua, -1, i) != LUA_TTABLE) fail(std::string("kernel(): ") + kForm);
        if (lua_rawgeti(lua, -1, 1) != LUA_TSTRING) fail(std::string("kernel(): ") + kForm);
        const std::string name = lua_tostring(lua, -1);
        lua_rawgeti(lua, -2, 2);
        const std::optional<std::int64_t> tiles = whole_number(lua, -1);
        if (!tiles || *tiles < 1 || *tiles > INT32_MAX) {
            const std::string shown =
                lua_isnumber(lua, -1) != 0 ? luaL_tolstring(lua, -1, nullptr) : type_name(lua, -1);
            fail("kernel(): grid axis '" + name + "' has " + shown +
                 " tiles; it must be a whole number from 1");
        }
        kernel.axes.push_back(name);
        kernel.grid.push_back(*tiles);
        lua_settop(lua, lua_gettop(lua) - 3);
    }
}

void LuaKernel::read_cluster(lua_State* lua) {
    if (lua_isnil(lua, -1)) return;
    for (std::size_t i = 0; i < 2; ++i) {
        std::optional<std::int64_t> ctas;
        if (lua_istable(lua, -1)) {
            lua_rawgeti(lua, -1, static_cast<lua_Integer>(i) + 1);
            ctas = whole_number(lua, -1);
            lua_pop(lua, 1);
        }
        if (!ctas || *ctas < 1 || *ctas > kMostCtasOfCluster)
            fail("kernel(): cluster must be CTAs along the two ordered axes: {2, 1}");
        kernel.cluster[i] = static_cast<int>(*ctas);
    }
    if (kernel.ctas_of_cluster() > kMostCtasOfCluster) {
        fail("kernel(): a cluster of " + std::to_string(kernel.cluster[0]) + " x " +
             std::to_string(kernel.cluster[1]) + " CTAs; at most " + std::to_string(kMostCtasOfCluster) +
             " are one");
    }
}

void LuaKernel::read_threads(lua_State* lua, int index) {
    const bool warps = lua_getfield(lua, index, "warps") != LUA_TNIL;
    const bool threads = lua_getfield(lua, index, "threads") != LUA_TNIL;
    lua_pop(lua, 2);
    if (warps && threads) fail("kernel(): give warps or threads, not both");
    kernel.resources.threads = static_cast<int>(threads ? whole_field(lua, index, "threads", 0, 1, 1024)
                                                        : whole_field(lua, index, "warps", 4, 1, 32) * kWarp);
}

void LuaKernel::check_fields(lua_State* lua, int index, const std::vector<std::string>& known) const {
    for (lua_pushnil(lua); lua_next(lua, index) != 0; lua_pop(lua, 1)) {
        const std::string key =
            lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "[" + type_name(lua, -2) + "]";
        if (std::ranges::find(known, key) == known.end())
            fail("kernel() returns an unknown field '" + key + "'" + suggestion(key, known));
    }
}

std::size_t LuaKernel::read_sequence(lua_State* lua, int index) {
    if (!lua_istable(lua, index)) fail("kernel() must return a table, not a " + type_name(lua, index));
    tensors_complete_ = true;
    if (kernel.tensors.empty()) fail("kernel() makes no tensor(...)");
    const int type = lua_getfield(lua, index, "launches");
    const std::size_t launches = type == LUA_TTABLE ? lua_rawlen(lua, -1) : 0;
    lua_pop(lua, 1);
    if (type == LUA_TNIL) return 0;
    check_fields(lua, index, kSequenceFields);
    if (launches < 1 || launches > kMostOfSequence)
        fail("kernel(): launches must be a list of 1 to " + std::to_string(kMostOfSequence) +
             " tables, each as a kernel of one launch returns it");
    kernel.title = text_field(lua, index, "title", "");
    return launches;
}

void LuaKernel::read_kernel(lua_State* lua, int index) {
    if (!lua_istable(lua, index)) fail("a launch must be a table, not a " + type_name(lua, index));
    check_fields(lua, index, kKernelFields);
    lua_getfield(lua, index, "grid");
    read_grid(lua);
    lua_getfield(lua, index, "cluster");
    read_cluster(lua);
    if (lua_getfield(lua, index, "program") != LUA_TFUNCTION)
        fail("kernel(): program must be a function of the tile");
    lua_pop(lua, 3);

    read_threads(lua, index);
    kernel.title = text_field(lua, index, "title", kernel.title);
    kernel.resources.registers_per_thread =
        static_cast<int>(whole_field(lua, index, "registers", 32, 1, 255));
    kernel.resources.shared_memory_bytes =
        whole_field(lua, index, "shared_memory", 0, 0, std::int64_t{1} << 40);
    kernel.stages = static_cast<int>(whole_field(lua, index, "stages", 1, 1, kMaxStages));
    kernel.prologue_ns = time_field(lua, index, "prologue_ns", kPrologueNs);
    kernel.prologue_jitter_ns = time_field(lua, index, "prologue_jitter_ns", 0);
    kernel.next_tile_ns = time_field(lua, index, "next_tile_ns", 0);
    kernel.epilogue_ns = time_field(lua, index, "epilogue_ns", kEpilogueNs);
    kernel.epilogue_jitter_ns = time_field(lua, index, "epilogue_jitter_ns", 0);
    kernel.epilogue_overlaps = flag_field(lua, index, "epilogue_overlaps");
    kernel.store_buffer_bytes = whole_field(lua, index, "store_buffer", 0, 0, std::int64_t{1} << 40);
    kernel.release_cycles = cycles_field(lua, index, "release_cycles");
    kernel.release_jitter_cycles = cycles_field(lua, index, "release_jitter_cycles");
    if (kernel.release_jitter_cycles > 2 * kernel.release_cycles)
        fail(
            "kernel(): release_jitter_cycles must be at most twice release_cycles: loads would leave before "
            "the math");
    kernel.load_interval_cycles = cycles_field(lua, index, "load_interval_cycles");
    kernel.step_gap_cycles = cycles_field(lua, index, "step_gap_cycles");
    kernel.math_jitter_cycles = cycles_field(lua, index, "math_jitter_cycles");
    kernel.pace_spread = number_field(lua, index, "pace_spread", 0, 1, "1");
    kernel.fences_per_tile = number_field(lua, index, "fences_per_tile", 0);
    kernel.fences_per_cta = number_field(lua, index, "fences_per_cta", 0);

    const std::string pipeline = text_field(lua, index, "pipeline", "multistage");
    if (pipeline != "multistage" && pipeline != "warp_specialized")
        fail("kernel(): pipeline is '" + pipeline + "'; it must be multistage or warp_specialized");
    kernel.pipeline = pipeline == "multistage" ? Pipeline::Multistage : Pipeline::WarpSpecialized;

    const std::string math = text_field(lua, index, "math", "bf16");
    const int bytes = element_bytes(math);
    if (bytes == 0 || bytes > 4)
        fail("kernel(): math is '" + math + "'; it must be bf16, fp16, fp8, int8, tf32 or fp32");
    kernel.math = bytes == 1 ? MathType::Bits8 : bytes == 2 ? MathType::Bits16 : MathType::Tf32;

    const std::string path = text_field(lua, index, "path", "tma");
    const std::optional<Path> known = path_of(path);
    if (!known) fail("kernel(): path is '" + path + "'; it must be tma, cp.async or ld");
    path_ = *known;
}

Phase LuaKernel::read_phase(lua_State* lua, std::string& problem) const {
    Phase phase;
    phase.count = 1;
    for (lua_pushnil(lua); lua_next(lua, -2) != 0; lua_pop(lua, 1)) {
        const std::string_view key = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "";
        std::string wrong;
        if (key == "count") {
            const std::optional<std::int64_t> count = whole_number(lua, -1);
            if (count && *count >= 0 && *count <= INT32_MAX) {
                phase.count = *count;
            } else {
                wrong = "must be a whole number from 0 to 2147483647";
            }
        } else if (key == "loads") {
            read_boxes(lua, phase.loads, wrong);
        } else if (key == "stores") {
            read_boxes(lua, phase.stores, wrong);
        } else if (key == "flops" || key == "cycles") {
            const std::optional<double> value = amount(lua, -1);
            if (!value) wrong = "must be a number from 0 to 1e18";
            (key == "flops" ? phase.math_flops : phase.math_cycles) = value.value_or(0);
        } else {
            wrong = "is no field of a phase" + suggestion(key_text(lua, -2), kPhaseFields);
        }
        if (!wrong.empty() && problem.empty()) problem = "'" + key_text(lua, -2) + "' " + wrong;
    }
    const auto tensor_name = [&](const BoxWalk& box) {
        return kernel.tensors[static_cast<std::size_t>(box.tensor)].name;
    };
    for (const BoxWalk& box : phase.loads) {
        if (problem.empty() && box.reduce)
            problem = "'loads' a box of " + tensor_name(box) + " with reduce, which is an option of stores";
    }
    for (const BoxWalk& box : phase.stores) {
        if (problem.empty() && box.multicast > 1)
            problem =
                "'stores' a box of " + tensor_name(box) + " with multicast, which is an option of loads";
    }
    for (const auto* boxes : {&phase.loads, &phase.stores}) {
        for (const BoxWalk& box : *boxes) {
            const Tensor& tensor = kernel.tensors[static_cast<std::size_t>(box.tensor)];
            if (problem.empty() && !stays_in_range(box, tensor.rank, phase.count))
                problem = "a box of " + tensor.name + " moves beyond any tensor in " +
                          std::to_string(phase.count) + " steps";
        }
    }
    return phase;
}

Program LuaKernel::read_phases(lua_State* lua, int index, std::string& problem) const {
    Program program;
    if (!lua_istable(lua, index)) {
        problem = "must return a list of phases, not a " + type_name(lua, index);
        return program;
    }
    const auto count = static_cast<lua_Integer>(lua_rawlen(lua, index));
    if (count == 0 || count > kMostPhases) {
        problem = "must return a list of 1 to " + std::to_string(kMostPhases) +
                  " phases, {{count = ..., loads = {...}}, ...}";
        return program;
    }
    if (const std::string beside = for_each_entry(lua, index, count, [](std::int64_t) {}); !beside.empty()) {
        problem = "must return a list of phases; '" + beside + "' is beside it";
        return program;
    }
    program.phases.reserve(static_cast<std::size_t>(count));
    for (lua_Integer i = 1; i <= count && problem.empty(); ++i) {
        if (lua_rawgeti(lua, index, i) != LUA_TTABLE) {
            problem = "phase " + std::to_string(i) + " must be a table, not a " + type_name(lua, -1);
        } else {
            std::string wrong;
            Phase phase = read_phase(lua, wrong);
            if (!wrong.empty()) problem = "phase " + std::to_string(i) + ": " + wrong;
            if (phase.count > 0) program.phases.push_back(std::move(phase));
        }
        lua_pop(lua, 1);
    }
    return program;
}

}  // namespace l2lens
