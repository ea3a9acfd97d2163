-- SPDX-License-Identifier: Apache-2.0
-- The tile goes through shared memory (Ruetsch and Micikevicius, "Optimizing Matrix Transpose in CUDA", 2009), so both
-- sides move whole row pieces. With tiles whose rows are less than a line (tile = 32 of bf16: 64 B), or a pitch
-- that is no multiple of 128 B, neighbours share lines of A and of B, and the order decides whether they meet in the L2.
about = "B = A transposed, through shared memory"
params = {
    {"m", 8192, "rows of A, columns of B"},
    {"n", 8192, "columns of A, rows of B"},
    {"tile", 64, "rows and columns of a tile", max = 256},
    {"dtype", "bf16", "element type", {"bf16", "fp16", "fp8", "fp32"}},
    {"path", "ld", "how a tile is loaded", {"tma", "cp.async", "ld"}},
}

function kernel(p)
    local t = p.tile
    local A = tensor("A", {p.m, p.n}, p.dtype)
    local B = tensor("B", {p.n, p.m}, p.dtype)
    -- What the warps of gpu/kernels' transpose issue, an instruction a cycle for each of four schedulers: ptxas 13.0 makes 656
    -- for 16-bit elements and 544 for 32-bit ones. A thread turns blocks of a piece of 16 B by as many rows as elements fill a
    -- word: each of its words is placed by a division, each of its pieces stored. The split is from the times of tiles of
    -- 32 and 64 (traces/h200/transpose.csv).
    local bytes = sizeof(p.dtype)
    local rows = max(1, 4 // bytes)
    local turns = t * t * bytes / (16 * rows) / (8 * 32)  -- blocks of a thread
    local issued = 8 * (176 + turns * (36 * 16 / bytes + 56 * rows)) / 4
    return {
        title = string.format("transpose %dx%d %s, tile %dx%d", p.m, p.n, p.dtype, t, t),
        grid = {{"m", cdiv(p.m, t)}, {"n", cdiv(p.n, t)}},
        path = p.path,
        warps = 8,
        registers = 32,
        prologue_ns = 200,
        epilogue_ns = 100,
        shared_memory = t * (t + 1) * sizeof(p.dtype),  -- one column of padding against bank conflicts
        program = function(m, n)
            return {{loads = {box(A, {m * t, n * t}, {t, t})}, stores = {box(B, {n * t, m * t}, {t, t})}, cycles = issued}}
        end,
    }
end
