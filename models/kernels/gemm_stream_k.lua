-- SPDX-License-Identifier: Apache-2.0
-- Stream-K (Osama et al., arXiv 2301.03598): K loops are divided among CTAs, so that no SM waits for a last, half empty
-- wave. plan=even is its basic form: as many CTAs as the GPU runs at once, each with the same number of k-steps, laid end to
-- end over the tiles. cutlass2 and sm90 divide as many tiles as those of a wave or two and compute the others whole. The
-- order of a prediction only says which SM gets which CTA; `group` is the order of the tiles, as in group_m:G.
--
-- Partial sums are fp32. In CUTLASS, the first part of a tile's K stores them, those in the middle add theirs in the L2, and
-- the last one reads the sum and stores C. In the basic form each part has a place of its own, and the CTA with the tile's
-- first step reads them all.
about = "C = A B with the k-steps of tiles divided among CTAs"
params = {
    {"m", 3072, "rows of C"},
    {"n", 3072, "columns of C"},
    {"k", 8192, "depth"},
    {"plan", "even", "who gets which k-steps: equal ranges, or as CUTLASS 2 or CUTLASS 3 for SM90 divide", {"even", "cutlass2", "sm90"}},
    {"ctas", 0, "CTAs that run at once; 0: one per SM", min = 0, max = 65536},
    {"group", 8, "tile rows of a group"},
    {"bm", 128, "rows of a tile", max = 1024},
    {"bn", 128, "columns of a tile", max = 1024},
    {"bk", 64, "depth of a step", max = 1024},
    {"stages", 0, "buffers for the boxes of a step; 0: as many as fit, at most 4", min = 0, max = 16},
    {"dtype", "bf16", "element type of A and B; C is bf16", {"bf16", "fp16", "fp8"}},
}

-- For each CTA a list of {tile, k_begin, k_end}, as stream_k_plan() gives them.
local function even_plan(tiles, steps, ctas)
    local plan, total = {}, tiles * steps
    for cta = 1, ctas do
        local at, stop = (cta - 1) * total // ctas, cta * total // ctas
        plan[cta] = {}
        while at < stop do
            local count = min(steps - at % steps, stop - at)
            table.insert(plan[cta], {at // steps, at % steps, at % steps + count})
            at = at + count
        end
    end
    return plan
end

function kernel(p, gpu)
    local bm, bn, bk = p.bm, p.bn, p.bk
    if p.stages == 0 then
        p.stages = gpu and max(1, min(4, gpu.shared_memory // ((bm + bn) * bk * sizeof(p.dtype)))) or 4
    end
    if p.ctas == 0 then p.ctas = gpu and gpu.sms or 132 end
    local rows, columns, steps = cdiv(p.m, bm), cdiv(p.n, bn), cdiv(p.k, bk)
    local even = p.plan == "even"
    local plan, places  -- places of partial sums: a CTA's own, or a divided tile's
    if even then
        p.ctas = min(p.ctas, rows * columns * steps)
        plan, places = even_plan(rows * columns, steps, p.ctas), p.ctas
    else
        plan, places = stream_k_plan(p.plan, rows * columns, steps, p.ctas)
    end
    local A, B = tensor("A", {p.m, p.k}, p.dtype), tensor("B", {p.n, p.k}, p.dtype)
    local C, W = tensor("C", {p.m, p.n}, "bf16"), tensor("W", {max(places, 1), bm, bn}, "fp32")
    local function partial(place, options) return box(W, {place, 0, 0}, {1, bm, bn}, options) end

    local function place_of(tile)  -- group_m:G
        local first = tile // (p.group * columns) * p.group
        local height = min(rows - first, p.group)
        local f = tile % (p.group * columns)
        return first + f % height, f // height
    end
    local function sums_of_others(cta, tile)  -- basic form: those of the CTAs after this one that end the tile
        local loads, other = {}, cta + 1
        while plan[other + 1] and plan[other + 1][1][1] == tile do
            table.insert(loads, partial(other))
            other = other + 1
        end
        return loads
    end

    -- What follows on steps [from, to) of a tile: its partial sums leave, or the tile is finished.
    local function fixup(cta, tile, from, to)
        local tm, tn = place_of(tile)
        local whole = {box(C, {tm * bm, tn * bn}, {bm, bn})}
        if even then
            if from > 0 then return {stores = {partial(cta)}} end
            return {loads = to < steps and sums_of_others(cta, tile) or {}, stores = whole}
        end
        if to < steps then return {stores = {partial(tile, from > 0 and {reduce = true} or {})}} end
        return {loads = from > 0 and {partial(tile)} or {}, stores = whole}
    end

    return {
        title = string.format("gemm_stream_k %dx%dx%d %s, %s, %d CTAs", p.m, p.n, p.k, p.dtype, p.plan, #plan),
        grid = {{"cta", #plan}, {"one", 1}},
        stages = p.stages,
        math = p.dtype,
        warps = bm * bn > 128 * 128 and 8 or 4,
        registers = min(255, bm * bn // (bm * bn > 128 * 128 and 256 or 128) + 26),
        shared_memory = max(p.stages * (bm + bn) * bk * sizeof(p.dtype), bm * bn * 2),
        program = function(cta)
            local phases = {}
            for _, piece in ipairs(plan[cta + 1]) do
                local tile, from, to = piece[1], piece[2], piece[3]
                local tm, tn = place_of(tile)
                table.insert(phases, {
                    count = to - from, flops = 2 * bm * bn * bk, cycles = 11,
                    loads = {box(A, {tm * bm, from * bk}, {bm, bk}, {0, bk}), box(B, {tn * bn, from * bk}, {bn, bk}, {0, bk})},
                })
                table.insert(phases, fixup(cta, tile, from, to))
            end
            return phases
        end,
    }
end
