-- SPDX-License-Identifier: Apache-2.0
-- Nothing is read twice: an order can neither help nor hurt the hit rate, which makes it the baseline of the others.
about = "B = A, tile by tile"
params = {
    {"m", 8192, "rows"},
    {"n", 8192, "columns"},
    {"bm", 64, "rows of a tile", max = 4096},
    {"bn", 128, "columns of a tile", max = 4096},
    {"dtype", "bf16", "element type", {"bf16", "fp16", "fp8", "fp32"}},
    {"path", "tma", "how a tile is loaded", {"tma", "cp.async", "ld"}},
}

function kernel(p)
    local A = tensor("A", {p.m, p.n}, p.dtype)
    local B = tensor("B", {p.m, p.n}, p.dtype)
    return {
        title = string.format("copy %dx%d %s, tile %dx%d", p.m, p.n, p.dtype, p.bm, p.bn),
        grid = {{"m", cdiv(p.m, p.bm)}, {"n", cdiv(p.n, p.bn)}},
        path = p.path,
        warps = 4,
        registers = 32,
        shared_memory = p.path == "ld" and 0 or p.bm * p.bn * sizeof(p.dtype),
        program = function(m, n)
            local at, size = {m * p.bm, n * p.bn}, {p.bm, p.bn}
            return {{loads = {box(A, at, size)}, stores = {box(B, at, size)}}}
        end,
    }
end
