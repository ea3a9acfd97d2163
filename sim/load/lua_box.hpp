// SPDX-License-Identifier: Apache-2.0
// The arguments of tensor() and box(), checked where they are written so that messages carry the line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"

struct lua_State;

namespace l2lens {

// No coordinate is larger: far beyond any tensor, and sums of a few of them do not overflow.
inline constexpr std::int64_t kMostCoordinate = std::int64_t{1} << 42;

std::optional<Path> path_of(const std::string& name);

// tensor(name, {shape}, type [, {strides in elements}]).
Tensor check_tensor(lua_State* lua);
void push_tensor(lua_State* lua, int index);

// box(tensor, {start}, {extent} [, {step}] [, {path, multicast, along, hint, reduce}]):
// models/kernels/README.md.
BoxWalk check_box(lua_State* lua, const std::vector<Tensor>& tensors, Path path);
void push_box(lua_State* lua, const BoxWalk& box);

// The box at `index`, or null.
const BoxWalk* to_box(lua_State* lua, int index);

}  // namespace l2lens
