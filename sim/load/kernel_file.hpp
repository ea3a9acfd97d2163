// SPDX-License-Identifier: Apache-2.0
// Reads models/kernels/NAME.lua: a kernel in about twenty lines of Lua, run in a sandbox.
//
//   about = "B = A, tile by tile"
//   params = { {"m", 8192, "rows"}, {"n", 8192, "columns"}, {"tile", 128, "rows and columns of a tile"} }
//   function kernel(p, gpu)                    -- gpu: {name, sms, shared_memory, l2_bytes}, nil when none is
//   chosen
//       local A = tensor("A", {p.m, p.n}, "bf16")           -- a fourth argument gives the strides in
//       elements local B = tensor("B", {p.m, p.n}, "bf16") return {
//           grid = {{"m", cdiv(p.m, p.tile)}, {"n", cdiv(p.n, p.tile)}},  -- the last two axes are the
//           ordered ones warps = 4, registers = 32, shared_memory = p.tile * p.tile * 2, program =
//           function(m, n)                        -- called once per tile, from 0
//               local at, size = {m * p.tile, n * p.tile}, {p.tile, p.tile}
//               return { {loads = {box(A, at, size)}, stores = {box(B, at, size)}} }
//           end,
//       }
//   end
//
// A phase has count (1), loads, stores, flops and cycles (0) per step; box(tensor, start, extent [, step per
// count]
// [, {path = "tma" | "cp.async" | "ld", multicast = 2}]). A kernel also takes title, threads, stages (1),
// pipeline ("multistage", "warp_specialized"), math ("bf16", ...), path ("tma"), cluster ({1, 1}),
// prologue_ns, epilogue_ns, epilogue_jitter_ns (0), epilogue_overlaps (false), store_buffer (0),
// release_cycles (0), math_jitter_cycles (0), pace_spread (0), fences_per_tile (0), fences_per_cta (0). Whole
// numbers may be floats without a fraction.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "kernel/kernel.hpp"
#include "load/kernel_params.hpp"
#include "machine/machine.hpp"

namespace l2lens {

inline constexpr std::int64_t kMostTiles = std::int64_t{1} << 24;

// What `kernel show` prints.
struct KernelDescription {
    std::string name;
    std::string file;
    std::string about;
    std::vector<KernelParam> params;

    bool declares(const std::string& param) const;
};

std::vector<std::string> list_kernels();

KernelDescription describe_kernel(const std::string& name_or_path);

// Called with [0, 1] while a large grid's programs are read; what it throws ends that.
using LoadProgress = std::function<void(double)>;

// Throws BadInput for whatever is wrong, in one line. With a machine, one CTA must fit its SM.
Kernel load_kernel(const std::string& name_or_path, const std::vector<std::string>& arguments,
                   const Machine* machine = nullptr, const LoadProgress& progress = {});

}  // namespace l2lens
