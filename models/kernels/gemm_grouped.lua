-- SPDX-License-Identifier: Apache-2.0
-- Rows of A sorted by expert, each expert with a B of its own (mixture of experts; CUTLASS grouped, DeepGEMM m-grouped
-- contiguous): B is shared by the tiles of one expert only. `skew` 0 gives all experts as many rows; with 1 the last
-- has next to none and the first twice the mean.
about = "C = A B[expert of the row], rows sorted by expert"
params = {
    {"groups", 8, "experts", max = 4096},
    {"m", 16384, "rows of A, all experts together"},
    {"n", 4096, "columns of C"},
    {"k", 4096, "depth"},
    {"skew", 0.0, "how unevenly the rows are spread over the experts, 0 to 1"},
    {"bm", 128, "rows of a tile", max = 1024},
    {"bn", 128, "columns of a tile", max = 1024},
    {"bk", 64, "depth of a step", max = 1024},
    {"stages", 0, "buffers for the boxes of a step; 0: as many as fit, at most 4", min = 0, max = 16},
    {"dtype", "bf16", "element type of A and B; C is bf16", {"bf16", "fp16", "fp8"}},
}

function kernel(p, gpu)
    assert(p.skew >= 0 and p.skew <= 1, "gemm_grouped: skew is a number from 0 to 1")
    local bm, bn, bk = p.bm, p.bn, p.bk
    if p.stages == 0 then
        p.stages = gpu and max(1, min(4, gpu.shared_memory // ((bm + bn) * bk * sizeof(p.dtype)))) or 4
    end
    -- Whole tiles to each expert, as DeepGEMM's contiguous layout pads them.
    local tiles, expert_of, given = cdiv(p.m, bm), {}, 0
    for g = 1, p.groups do
        local share = (1 + p.skew * (1 - 2 * (g - 0.5) / p.groups)) / p.groups
        local stop = g == p.groups and tiles or min(tiles, math.floor(given + share * tiles + 0.5))
        for t = given, stop - 1 do expert_of[t] = g - 1 end
        given = max(given, stop)
    end
    local A, B = tensor("A", {tiles * bm, p.k}, p.dtype), tensor("B", {p.groups, p.n, p.k}, p.dtype)
    local C = tensor("C", {tiles * bm, p.n}, "bf16")
    return {
        title = string.format("gemm_grouped %d groups, %dx%dx%d %s, tile %dx%dx%d", p.groups, p.m, p.n, p.k, p.dtype, bm, bn, bk),
        grid = {{"m", tiles}, {"n", cdiv(p.n, bn)}},
        stages = p.stages,
        math = p.dtype,
        warps = bm * bn > 128 * 128 and 8 or 4,
        registers = min(255, bm * bn // (bm * bn > 128 * 128 and 256 or 128) + 26),
        shared_memory = max(p.stages * (bm + bn) * bk * sizeof(p.dtype), bm * bn * 2),
        program = function(tm, tn)
            return {
                {count = cdiv(p.k, bk), flops = 2 * bm * bn * bk, cycles = 11,
                 loads = {box(A, {tm * bm, 0}, {bm, bk}, {0, bk}), box(B, {expert_of[tm], tn * bn, 0}, {1, bn, bk}, {0, 0, bk})}},
                {stores = {box(C, {tm * bm, tn * bn}, {bm, bn})}},
            }
        end,
    }
end
