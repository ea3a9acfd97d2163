// SPDX-License-Identifier: Apache-2.0
#include "load/lua_box.hpp"

#include <new>
#include <type_traits>

#include <lua.hpp>

#include "base/bytes_text.hpp"
#include "base/units.hpp"
#include "kernel/box_lines.hpp"
#include "load/lua_kernel.hpp"
#include "load/lua_values.hpp"

namespace l2lens {
namespace {

// What a userdata of a kernel file is. No other one is within its reach, so the first word tells which.
enum class Kind : std::uint64_t { Tensor, Box };

template <class T>
struct Userdata {
    Kind kind;
    T value;
};

// As much as a LineNumber reaches.
constexpr std::int64_t kMostTensorBytes = std::int64_t{1} << (32 + kLineShift);

static_assert(std::is_trivially_copyable_v<BoxWalk> && std::is_trivially_destructible_v<BoxWalk>);

[[noreturn]] void fail(lua_State* lua, const std::string& message) {
    luaL_error(lua, "%s", message.c_str());
    throw std::bad_alloc();  // luaL_error does not return
}

template <class T>
const T* to_userdata(lua_State* lua, int index, Kind kind) {
    if (lua_type(lua, index) != LUA_TUSERDATA) return nullptr;
    const auto* data = static_cast<const Userdata<T>*>(lua_touserdata(lua, index));
    return data->kind == kind ? &data->value : nullptr;
}

template <class T>
void push_userdata(lua_State* lua, Kind kind, const T& value) {
    new (lua_newuserdatauv(lua, sizeof(Userdata<T>), 0)) Userdata<T>{kind, value};
}

struct Numbers {
    int count = 0;
    Index values{};
};

// A list of one to five whole numbers within [minimum, maximum].
Numbers check_numbers(lua_State* lua, int argument, const char* what, std::int64_t minimum,
                      std::int64_t maximum) {
    if (!lua_istable(lua, argument)) {
        fail(lua, std::string(what) + " must be a list of whole numbers, {0, 0}, not a " +
                      luaL_typename(lua, argument));
    }
    Numbers numbers;
    const auto count = lua_rawlen(lua, argument);
    if (count < 1 || count > kMaxRank)
        fail(lua, std::string(what) + " has " + std::to_string(count) +
                      " entries; 1 to 5 dimensions are possible");
    numbers.count = static_cast<int>(count);
    for (int i = 0; i < numbers.count; ++i) {
        lua_rawgeti(lua, argument, i + 1);
        const std::optional<std::int64_t> value = whole_number(lua, -1);
        if (!value || *value < minimum || *value > maximum) {
            const std::string shown = luaL_tolstring(lua, -1, nullptr);
            fail(lua, std::string(what) + ": entry " + std::to_string(i + 1) + " is " + shown +
                          "; it must be a whole number from " + std::to_string(minimum) + " to " +
                          std::to_string(maximum));
        }
        numbers.values[static_cast<std::size_t>(i)] = *value;
        lua_pop(lua, 1);
    }
    return numbers;
}

// Row-major, each row right after the one before.
Index packed_strides(const Tensor& tensor) {
    Index strides{};
    __int128 bytes = tensor.element_bytes;
    for (int d = tensor.rank - 1; d >= 0; --d) {
        const auto i = static_cast<std::size_t>(d);
        strides[i] = bytes > kMostTensorBytes ? kMostTensorBytes : static_cast<std::int64_t>(bytes);
        bytes = strides[i] * static_cast<__int128>(tensor.shape[i]);
    }
    return strides;
}

void read_strides(lua_State* lua, Tensor& tensor) {
    const Numbers strides = check_numbers(lua, 4, "strides", 0, kMostTensorBytes / 8);
    const auto last = static_cast<std::size_t>(tensor.rank - 1);
    if (strides.count != tensor.rank || strides.values[last] != 1)
        fail(lua, "strides of " + tensor.name + ": one for each of its " + std::to_string(tensor.rank) +
                      " dimensions, in elements, and the last one is 1");
    for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d)
        tensor.stride_bytes[d] = strides.values[d] * tensor.element_bytes;
}

void check_size(lua_State* lua, const Tensor& tensor) {
    __int128 bytes = tensor.element_bytes;
    for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d)
        bytes += static_cast<__int128>(tensor.shape[d] - 1) * tensor.stride_bytes[d];
    if (bytes > kMostTensorBytes) {
        fail(lua, "tensor " + tensor.name + " takes " + bytes_text(static_cast<double>(bytes)) +
                      "; at most " + bytes_text(static_cast<double>(kMostTensorBytes)));
    }
}

std::optional<CacheHint> hint_of(const std::string& name) {
    if (name == "evict_first") return CacheHint::EvictFirst;
    if (name == "evict_last") return CacheHint::EvictLast;
    if (name == "no_allocate") return CacheHint::NoAllocate;
    return std::nullopt;
}

void read_options(lua_State* lua, int argument, BoxWalk& box) {
    for (lua_pushnil(lua); lua_next(lua, argument) != 0; lua_pop(lua, 1)) {
        const std::string key = lua_type(lua, -2) == LUA_TSTRING ? lua_tostring(lua, -2) : "?";
        if (key == "path") {
            const std::string name = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "?";
            const std::optional<Path> path = path_of(name);
            if (!path) fail(lua, "path is '" + name + "'; it must be tma, cp.async or ld");
            box.path = *path;
        } else if (key == "multicast") {
            const std::optional<std::int64_t> ctas = whole_number(lua, -1);
            if (!ctas || *ctas < 1 || *ctas > 16)
                fail(lua, "multicast must be a whole number of CTAs from 1 to 16");
            box.multicast = static_cast<int>(*ctas);
        } else if (key == "along") {
            const std::string axis = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "?";
            if (axis != "rows" && axis != "columns")
                fail(lua, "along is '" + axis + "'; it must be rows or columns");
            box.multicast_axis = axis == "rows" ? 0 : 1;
        } else if (key == "hint") {
            const std::string name = lua_type(lua, -1) == LUA_TSTRING ? lua_tostring(lua, -1) : "?";
            const std::optional<CacheHint> hint = hint_of(name);
            if (!hint) fail(lua, "hint is '" + name + "'; it must be evict_first, evict_last or no_allocate");
            box.hint = *hint;
        } else if (key == "reduce") {
            if (lua_type(lua, -1) != LUA_TBOOLEAN) fail(lua, "reduce must be true or false");
            box.reduce = lua_toboolean(lua, -1) != 0;
        } else {
            fail(lua, "'" + key + "' is no option of a box; there are: path multicast along hint reduce");
        }
    }
}

// {0, 64} is a step, {path = "ld"} are options.
bool is_options(lua_State* lua, int argument) {
    return lua_istable(lua, argument) && lua_rawlen(lua, argument) == 0;
}

}  // namespace

std::optional<Path> path_of(const std::string& name) {
    if (name == "tma") return Path::Tma;
    if (name == "cp.async") return Path::CpAsync;
    if (name == "ld") return Path::Load;
    return std::nullopt;
}

Tensor check_tensor(lua_State* lua) {
    Tensor tensor;
    if (lua_type(lua, 1) != LUA_TSTRING) fail(lua, "tensor(name, {shape}, type): the name must be a string");
    tensor.name = lua_tostring(lua, 1);
    const Numbers shape =
        check_numbers(lua, 2, ("shape of tensor " + tensor.name).c_str(), 1, kMostTensorBytes);
    tensor.rank = shape.count;
    tensor.shape = shape.values;
    const std::string type = lua_type(lua, 3) == LUA_TSTRING ? lua_tostring(lua, 3) : luaL_typename(lua, 3);
    tensor.element_bytes = element_bytes(type);
    if (tensor.element_bytes == 0)
        fail(lua, "tensor " + tensor.name + ": type '" + type +
                      "' is none of bf16 fp16 fp8 int8 tf32 fp32 int32 fp64");
    if (lua_isnoneornil(lua, 4)) {
        tensor.stride_bytes = packed_strides(tensor);
    } else {
        read_strides(lua, tensor);
    }
    check_size(lua, tensor);
    return tensor;
}

void push_tensor(lua_State* lua, int index) {
    push_userdata(lua, Kind::Tensor, index);
}

BoxWalk check_box(lua_State* lua, const std::vector<Tensor>& tensors, Path path) {
    BoxWalk box;
    box.path = path;
    const int* const index = to_userdata<int>(lua, 1, Kind::Tensor);
    if (index == nullptr)
        fail(lua, std::string("box: the first argument must be a tensor, not a ") + luaL_typename(lua, 1));
    box.tensor = *index;
    const Tensor& tensor = tensors[static_cast<std::size_t>(box.tensor)];

    const Numbers start = check_numbers(lua, 2, "box: start", -kMostCoordinate, kMostCoordinate);
    const Numbers extent = check_numbers(lua, 3, "box: extent", 1, INT32_MAX);
    Numbers step{tensor.rank, {}};
    const bool options_fourth = is_options(lua, 4);
    if (!options_fourth && !lua_isnoneornil(lua, 4))
        step = check_numbers(lua, 4, "box: step", -kMostCoordinate, kMostCoordinate);
    if (start.count != tensor.rank || extent.count != tensor.rank || step.count != tensor.rank) {
        fail(lua, "box: tensor " + tensor.name + " has " + std::to_string(tensor.rank) +
                      " dimensions; start has " + std::to_string(start.count) + ", extent " +
                      std::to_string(extent.count) + ", step " + std::to_string(step.count));
    }
    box.start = start.values;
    box.extent = extent.values;
    box.step = step.values;
    const int options = options_fourth ? 4 : 5;
    if (lua_istable(lua, options)) read_options(lua, options, box);
    if (const std::int64_t lines = most_requests(tensor, box); lines > kMostBoxRequests) {
        fail(lua, "box of " + tensor.name + " may touch " + std::to_string(lines) + " cache lines; at most " +
                      std::to_string(kMostBoxRequests) + ": split it, or let it move in steps");
    }
    return box;
}

void push_box(lua_State* lua, const BoxWalk& box) {
    push_userdata(lua, Kind::Box, box);
}

const BoxWalk* to_box(lua_State* lua, int index) {
    return to_userdata<BoxWalk>(lua, index, Kind::Box);
}

}  // namespace l2lens
