-- SPDX-License-Identifier: Apache-2.0
-- A CTA brings its block and a halo of `radius` cells around it into shared memory, every cell once. Neighbouring blocks
-- share halos, whose rows are rounded out to sectors; successive sweeps share the whole grid, as far as it fits the L2.
about = "B = a weighted sum of each cell of A and its neighbours, sweep after sweep (A and B swap)"
params = {
    {"m", 8192, "rows"},
    {"n", 8192, "columns"},
    {"radius", 1, "cells to each side that a sum reaches", max = 64},
    {"shape", "star", "star: along the axes only; box: the corners, too", {"star", "box"}},
    {"bm", 32, "rows of a block", max = 1024},
    {"bn", 128, "columns of a block", max = 4096},
    {"sweeps", 1, "launches, one after the other", max = 64},
    {"warps", 8, "warps of a CTA", {1, 2, 4, 8, 16, 32}},
    {"dtype", "fp32", "element type", {"fp32", "fp64", "bf16", "fp16"}},
    {"path", "ld", "how blocks are loaded", {"ld", "cp.async", "tma"}},
}

function kernel(p)
    local r, bm, bn = p.radius, p.bm, p.bn
    local cells = {tensor("A", {p.m, p.n}, p.dtype), tensor("B", {p.m, p.n}, p.dtype)}

    -- What the warps of gpu/kernels' stencil issue, an instruction a cycle for each of four schedulers. ptxas 13.0 makes
    -- 1128 (radius 1) to 1192 (radius 4) for a star and up to 1576 for a box, of which not all are run: staging the tile,
    -- and for each row that a thread walks down. The split is from times of tiles of 16 x 64, whose threads walk one row,
    -- and of 32 x 128, whose threads walk four (traces/h200/stencil2d.csv).
    local walked = max(1, cdiv(bm * bn, 4 * 32 * p.warps))  -- rows of four points of a thread
    local issued = p.warps * (675 + walked * (98 + (p.shape == "box" and 20 or 6) * r)) / 4

    local function sweep(from, to)
        return {
            grid = {{"m", cdiv(p.m, bm)}, {"n", cdiv(p.n, bn)}},
            path = p.path,
            warps = p.warps,
            registers = 48,
            shared_memory = (bm + 2 * r) * (bn + 2 * r) * sizeof(p.dtype),
            prologue_ns = 200,
            epilogue_ns = 100,
            program = function(m, n)
                local top, left = m * bm, n * bn
                local loads
                if p.shape == "box" then
                    loads = {box(from, {top - r, left - r}, {bm + 2 * r, bn + 2 * r})}
                else
                    loads = {box(from, {top - r, left}, {bm + 2 * r, bn}), box(from, {top, left - r}, {bm, r}),
                             box(from, {top, left + bn}, {bm, r})}
                end
                return {{loads = loads, cycles = issued}, {stores = {box(to, {top, left}, {bm, bn})}}}
            end,
        }
    end

    local launches = {}
    for i = 1, p.sweeps do launches[i] = sweep(cells[2 - i % 2], cells[1 + i % 2]) end
    return {
        title = string.format("stencil2d %dx%d %s, %s of radius %d, block %dx%d, %d sweep(s)", p.m, p.n, p.dtype, p.shape, r,
                              bm, bn, p.sweeps),
        launches = launches,
    }
end
