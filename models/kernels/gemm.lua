-- SPDX-License-Identifier: Apache-2.0
-- Tiled GEMM as Triton and CUTLASS write it for Hopper: per k-step one box of A and one of B through TMA, an MMA, and
-- at the end one box of C. Two kernels were measured on an H200, and `pipeline` says which is meant: multistage is
-- Triton's (traces/h200/gemm.csv), warp_specialized that of gpu/kernels (live_groups.csv), whose producer warp asks for
-- the boxes. What they differ by stands first, a function of each kernel.
about = "C = A B, one CTA per tile of C, K in steps of bk"
params = {
    {"m", 8192, "rows of C"},
    {"n", 8192, "columns of C"},
    {"k", 8192, "depth"},
    {"bm", 128, "rows of a tile", max = 1024},
    {"bn", 128, "columns of a tile", max = 1024},
    {"bk", 64, "depth of a step", max = 1024},
    {"stages", 0, "buffers for the boxes of a step; 0: as many as fit, at most 4", min = 0, max = 16},
    {"warps", 0, "warps that do the math; 0: 4, or 8 above 128 x 128", {0, 1, 2, 4, 8, 16}},
    {"dtype", "bf16", "element type of A and B; C is bf16", {"bf16", "fp16", "fp8", "tf32", "fp32"}},
    {"layout", "tn", "tn: A[m,k] B[n,k], tt: A[m,k] B[k,n], nn: A[k,m] B[n,k], nt: A[k,m] B[k,n]", {"tn", "tt", "nn", "nt"}},
    {"cluster_m", 1, "CTAs of a cluster along m; they share the boxes of B by multicast", {1, 2}},
    {"cluster_n", 1, "CTAs of a cluster along n; they share the boxes of A by multicast", {1, 2}},
    {"pipeline", "multistage", "who issues the loads: the math warps, or a warp of its own", {"multistage", "warp_specialized"}},
    {"mode", "grid", "what the kernel is compiled for: a CTA per tile, or a persistent loop", {"grid", "static", "dynamic"}},
    {"beta", false, "C = A B + beta C: the epilogue reads C"},
}

local function c_bytes(p) return p.bm * p.bn * 2 end
-- Does K run along the inner axis of A, and of B?
local function k_is_inner(p) return p.layout == "tn" or p.layout == "tt", p.layout == "tn" or p.layout == "nn" end

-- Shared memory for C beside the boxes' own buffers, and how much of C that holds at a time.
local function room_for_c_of_triton(p)
    -- C leaves through the buffers of the boxes, but in a statically persistent loop through one of its own: the
    -- compiler then overlaps the store with the next tile's loads. Reproduces the CTAs per SM of all 354 recorded rows.
    return p.mode == "static" and c_bytes(p) or 0, 0
end

local function room_for_c_of_specialized(p)
    -- C is stored through at most two pieces of 64 x 64 for each four warps, and there are barriers (a KiB, and one to align).
    local groups = max(1, p.warps // 4)
    local pieces = groups * min(2, max(1, p.bm // groups // 64 * (p.bn // 64))) * 8192
    return pieces + 2048, pieces
end

-- When a step's loads leave, and what a tile takes beside its steps.
local function times_of_triton(p)
    -- Eight warps, both operands K-major and no persistent loop: Triton's code waits for each step's MMAs, and the next step's
    -- begin 315 cycles after them where the data are there: with hits alone a step takes 1335 to 1344 cycles (128x256x64), 826 to
    -- 838 (128x128x64, 64x256x64) and 584 (128x128x32), with three stages and with four, but 1022 of 128x128x128, its MMAs' time
    -- (triton_steps.csv). Its loads leave when both warpgroups have met, 60 cycles after the math (mma_pair.csv), as late again as
    -- those of one warpgroup: 120. With two stages, which overlap nothing, that is 8 % short of the 2160 cycles a step takes; with
    -- 290, which are not, launches of three and four stages take 5 to 8 % more time than counted, with 120 4 %.
    local waits = p.warps == 8 and p.layout == "tn" and p.mode == "grid" and p.bm * p.bn >= 128 * 128 and p.bk <= 64
    return {
        -- What Triton's loop takes between a step's MMAs, when they are handed over, and the loads of a later one: barriers,
        -- addresses, one thread that sends them. 60 and 90 fit the rows of gemm_more.csv to fit best, of 60, 90 and 130.
        release_cycles = waits and 120 or 60,
        -- They leave early or late, anew for each step: with hits alone 0.45 of what is asked for merges, where of loads in step 0.57
        -- would (triton_rounds.csv). Each by itself, tiles of 64x256 would have 60, 128x128 115 with four warps and 150 with eight.
        release_jitter_cycles = 80,
        step_gap_cycles = waits and 315 or 0,
        -- The tile counter is an atomic that acquires and releases (lookups that neither read nor write, traces/h200).
        fences_per_tile = p.mode == "dynamic" and 1 or 0,
        -- Taken not to load ahead into the next tile: if it did, its launches of few steps would take 8 to 25 % less than recorded.
        prologue_ns = p.mode == "static" and 0 or 600,
        -- Accumulators go to shared memory, 128 a thread in 500 ns, and 200 whatever the tile. Over the 73 rows to fit on
        -- that have 32 or 64 a thread time is 4.8 % off in the mean; 5.2 with 700 ns for every tile, and 5.0 and 4.6 when 400 and
        -- 100 of the 700 do not depend on the tile, but with 100 more misses are off (5.5 for 5.0 %).
        epilogue_ns = 200 + 500 * p.bm * p.bn // (p.warps * 32 * 128),
    }
end

local function times_of_specialized(p)
    local inner_of_a, inner_of_b = k_is_inner(p)
    local boxes = (inner_of_a and 1 or cdiv(p.bm, 64)) + (inner_of_b and 1 or cdiv(p.bn, 64))
    return {
        -- The producer takes 66 cycles a box that it asks for, each of 64 elements at most along the operand's inner axis, and 97 for
        -- a step's barriers (producer.csv). Beside MMAs it is slower: steps of 64x64 tiles take 296 cycles and of 64x128 338, however
        -- many stages there are (warm_gemm.csv), which 80 and 0.66 a row give. Those of larger tiles are bound by their math, or by
        -- their lines.
        load_interval_cycles = 66 * boxes + (p.bm * p.bn <= 64 * 128 and 80 + 0.66 * (p.bm + p.bn) or 97),
        -- Until a CTA's first loads. A grid's needs 870 ns: with them tiles of 2 to 16 steps take as many cycles as counted, within
        -- 4 % (gemm_k.csv). With 870 in static launches, too, those of 128x256 and 8 steps are 1.6 % long, with none 0.7.
        prologue_ns = ({grid = 870, static = 0, dynamic = 600})[p.mode],
        -- The producer reads which tile comes next from memory, and in a dynamic launch draws it before: 683 to 826 and 1181 to 1260
        -- cycles, and some 225 from there to the next tile's first loads, beside the 140 by which a step's loads take it longer
        -- than load_interval_cycles (tile_changes.csv, at 1.6 GHz).
        next_tile_ns = ({grid = 0, static = 660, dynamic = 1160})[p.mode],
        -- CTAs of a GPC that start together are 40 ns apart then (standard deviation) with hits alone, eight of them, and 80 all of them
        -- (few_ctas.csv's kernel in a build that notes its times); nothing brings them together again.
        prologue_jitter_ns = 110,
        -- A change of tiles takes 1755, 2025 and 2490 cycles of 64x128, 128x128 and 128x256 tiles (gemm_k.csv), so 900 ns and what
        -- does not fit the buffers of C.
        epilogue_ns = 900,
        -- Tiles of two warpgroups part where a CTA goes on to the next one, by as much with 16 steps as with 256: by 69 to 96 ns where
        -- their ends are stamped (gemm_schedules*.csv). But static launches under their stamped schedule merge less than those
        -- without stamps, whose sectors 50 fits, of 30, 50 and 70, and dynamic ones' 70 (live_groups.csv). CTAs of a grid start within
        -- a tick of another one of their GPC as often as those of one warpgroup do (53 in 100, stamped), with 20 in 42. Tiles of one
        -- do not part: 85 in 100 end with another, of Triton's that share a box of B 97, in a grid or a loop (triton_schedules*.csv).
        epilogue_jitter_ns = p.warps > 4 and ({grid = 20, static = 50, dynamic = 70})[p.mode] or 0,
        epilogue_overlaps = p.mode ~= "grid",
    }
end

-- SM cycles of a step beside its MMA, with hits alone.
local function step_cycles(p)
    -- MMAs of the warp-specialized kernel follow each other: a step takes their time. Static launches of 128x256 tiles, 64 and 128
    -- steps, take 2600 cycles more (live_groups.csv).
    if p.pipeline == "warp_specialized" then return 0 end
    -- None in a grid, where a step of 128x128x64 takes 512.0; 2 to 6 in a persistent loop of Triton's (triton_steps.csv).
    return p.mode == "grid" and 0 or 5
end

function kernel(p, gpu)
    local m, n, k, bm, bn, bk = p.m, p.n, p.k, p.bm, p.bn, p.bk
    local specialized = p.pipeline == "warp_specialized"
    if p.warps == 0 then p.warps = bm * bn > 128 * 128 and 8 or 4 end

    local stage = (bm + bn) * bk * sizeof(p.dtype)
    local own_c, c_buffers = (specialized and room_for_c_of_specialized or room_for_c_of_triton)(p)
    if p.stages == 0 then
        p.stages = gpu and max(1, min(4, (gpu.shared_memory - own_c) // stage)) or 4
    end
    -- An accumulator per element of C, and 26 more.
    local registers = bm * bn // (p.warps * 32) + 26
    if registers > 255 then
        error("a " .. bm .. "x" .. bn .. " tile with " .. p.warps .. (p.warps == 1 and " warp needs " or " warps needs ") .. registers ..
              " registers per thread, a GPU has 255: take more warps or a smaller tile", 0)
    end

    local a_by_m, b_by_n = k_is_inner(p)
    local A = tensor("A", a_by_m and {m, k} or {k, m}, p.dtype)
    local B = tensor("B", b_by_n and {n, k} or {k, n}, p.dtype)
    local C = tensor("C", {m, n}, "bf16")
    local tiles_m, tiles_n, steps = cdiv(m, bm), cdiv(n, bn), cdiv(k, bk)
    local clustered = p.cluster_m * p.cluster_n > 1
    local along, across, tile = {0, bk}, {bk, 0}, {bm, bn}

    -- CTA `rank` of the `sharers` of a cluster loads its share of an operand's `size` rows (columns) at `at` for all.
    local function operand(T, k_inner, at, size, rank, sharers, along_axis)
        local from = rank * size // sharers
        local part = (rank + 1) * size // sharers - from
        if k_inner then return box(T, {at + from, 0}, {part, bk}, along, {multicast = sharers, along = along_axis}) end
        return box(T, {0, at + from}, {bk, part}, across, {multicast = sharers, along = along_axis})
    end
    -- All tiles of a row load one box of A, all of a column one of B: each is made once.
    local made_a, made_b = {}, {}
    local function once(made, key, make, at, rank, sharers)
        made[key] = made[key] or make(at, rank, sharers)
        return made[key]
    end
    local function box_of_a(tm, rank, sharers) return operand(A, a_by_m, tm * bm, bm, rank, sharers, "columns") end
    local function box_of_b(tn, rank, sharers) return operand(B, b_by_n, tn * bn, bn, rank, sharers, "rows") end

    local launch = (specialized and times_of_specialized or times_of_triton)(p)

    -- A program's tables, filled anew for each tile: whoever calls it copies what it says.
    local at, loads, stores = {0, 0}, {}, {}
    local phases = {
        {count = steps, flops = 2 * bm * bn * bk, cycles = step_cycles(p), loads = loads},
        {loads = p.beta and stores or nil, stores = stores},
    }

    launch.title = string.format("gemm %dx%dx%d %s %s, tile %dx%dx%d, %d stages", m, n, k, p.dtype, p.layout, bm, bn, bk, p.stages)
    launch.grid = {{"m", tiles_m}, {"n", tiles_n}}
    launch.stages = p.stages
    launch.pipeline = p.pipeline
    launch.math = p.dtype
    launch.warps = p.warps
    launch.registers = registers
    launch.shared_memory = (specialized and p.stages * stage or max(p.stages * stage, c_bytes(p))) + own_c
    launch.store_buffer = c_buffers
    launch.cluster = {p.cluster_m, p.cluster_n}
    -- In a cluster the producer and each four math warps fence (lookups that neither read nor write, traces/h200).
    launch.fences_per_cta = clustered and 1 + p.warps // 4 or 0
    launch.program = function(tm, tn)
        if clustered then
            local rank_m, rank_n = tm % p.cluster_m, tn % p.cluster_n
            -- At the edge of the grid a cluster has fewer CTAs.
            local sharers_of_a = min(p.cluster_n, tiles_n - tn + rank_n)
            local sharers_of_b = min(p.cluster_m, tiles_m - tm + rank_m)
            loads[1] = once(made_a, tm << 4 | rank_n << 2 | sharers_of_a, box_of_a, tm, rank_n, sharers_of_a)
            loads[2] = once(made_b, tn << 4 | rank_m << 2 | sharers_of_b, box_of_b, tn, rank_m, sharers_of_b)
        else
            loads[1] = made_a[tm] or once(made_a, tm, box_of_a, tm, 0, 1)
            loads[2] = made_b[tn] or once(made_b, tn, box_of_b, tn, 0, 1)
        end
        at[1], at[2] = tm * bm, tn * bn
        stores[1] = box(C, at, tile)
        return phases
    end
    return launch
end
