-- SPDX-License-Identifier: Apache-2.0
-- Stream-K (Osama et al., arXiv 2301.03598) in its basic form: as many CTAs as the GPU runs at once, each with the same
-- number of k-steps, laid end to end over the tiles. A CTA that does not finish its tile stores an fp32 partial sum, and
-- the one that does the tile's first step reads those of the others. `group` is the order of the tiles, as in group_m:G:
-- the order of a prediction only says which SM gets which range.
about = "C = A B with equal ranges of k-steps for all CTAs"
params = {
    {"m", 3072, "rows of C"},
    {"n", 3072, "columns of C"},
    {"k", 8192, "depth"},
    {"ctas", 0, "CTAs; 0: one per SM", min = 0, max = 65536},
    {"group", 8, "tile rows of a group"},
    {"bm", 128, "rows of a tile", max = 1024},
    {"bn", 128, "columns of a tile", max = 1024},
    {"bk", 64, "depth of a step", max = 1024},
    {"stages", 0, "buffers for the boxes of a step; 0: as many as fit, at most 4", min = 0, max = 16},
    {"dtype", "bf16", "element type of A and B; C is bf16", {"bf16", "fp16", "fp8"}},
}

function kernel(p, gpu)
    local bm, bn, bk = p.bm, p.bn, p.bk
    if p.stages == 0 then
        p.stages = gpu and max(1, min(4, gpu.shared_memory // ((bm + bn) * bk * sizeof(p.dtype)))) or 4
    end
    if p.ctas == 0 then p.ctas = gpu and gpu.sms or 132 end
    local rows, columns, steps = cdiv(p.m, bm), cdiv(p.n, bn), cdiv(p.k, bk)
    local total = rows * columns * steps
    p.ctas = min(p.ctas, total)
    local A, B = tensor("A", {p.m, p.k}, p.dtype), tensor("B", {p.n, p.k}, p.dtype)
    local C, W = tensor("C", {p.m, p.n}, "bf16"), tensor("W", {p.ctas, bm, bn}, "fp32")

    local function tile_at(i)  -- group_m:G
        local first = i // (p.group * columns) * p.group
        local height = min(rows - first, p.group)
        local f = i % (p.group * columns)
        return first + f % height, f // height
    end
    local function first_step(cta) return cta * total // p.ctas end

    return {
        title = string.format("gemm_stream_k %dx%dx%d %s, %d CTAs", p.m, p.n, p.k, p.dtype, p.ctas),
        grid = {{"cta", p.ctas}, {"one", 1}},
        stages = p.stages,
        math = p.dtype,
        warps = bm * bn > 128 * 128 and 8 or 4,
        registers = min(255, bm * bn // (bm * bn > 128 * 128 and 256 or 128) + 26),
        shared_memory = max(p.stages * (bm + bn) * bk * sizeof(p.dtype), bm * bn * 2),
        program = function(cta)
            local at, stop, phases = first_step(cta), first_step(cta + 1), {}
            while at < stop do
                local tile, k = at // steps, at % steps
                local count = min(steps - k, stop - at)
                local tm, tn = tile_at(tile)
                table.insert(phases, {
                    count = count, flops = 2 * bm * bn * bk, cycles = 11,
                    loads = {box(A, {tm * bm, k * bk}, {bm, bk}, {0, bk}), box(B, {tn * bn, k * bk}, {bn, bk}, {0, bk})},
                })
                if k > 0 then  -- only a CTA's first tile was begun elsewhere
                    table.insert(phases, {stores = {box(W, {cta, 0, 0}, {1, bm, bn})}})
                else
                    local loads, other = {}, cta + 1
                    while count < steps and other < p.ctas and first_step(other) < (tile + 1) * steps do
                        table.insert(loads, box(W, {other, 0, 0}, {1, bm, bn}))
                        other = other + 1
                    end
                    table.insert(phases, {loads = loads, stores = {box(C, {tm * bm, tn * bn}, {bm, bn})}})
                end
                at = at + count
            end
            return phases
        end,
    }
end
