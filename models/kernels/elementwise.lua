-- SPDX-License-Identifier: Apache-2.0
-- No element is read twice: like a copy, no order changes what it fetches (of the SwizzlePerf suite, arXiv 2508.20258, such
-- kernels are the ones without reuse).
about = "Y = f(X1, ..., Xn) element by element"
params = {
    {"m", 8192, "rows"},
    {"n", 8192, "columns"},
    {"inputs", 2, "tensors that are read", max = 8},
    {"bm", 8, "rows of a tile", max = 4096},
    {"bn", 1024, "columns of a tile", max = 65536},
    {"dtype", "bf16", "element type", {"bf16", "fp16", "fp8", "fp32"}},
    {"path", "ld", "how tiles are loaded", {"ld", "cp.async", "tma"}},
}

function kernel(p)
    local inputs = {}
    for i = 1, p.inputs do inputs[i] = tensor("X" .. i, {p.m, p.n}, p.dtype) end
    local Y = tensor("Y", {p.m, p.n}, p.dtype)
    return {
        title = string.format("elementwise %dx%d %s, %d input(s)", p.m, p.n, p.dtype, p.inputs),
        grid = {{"m", cdiv(p.m, p.bm)}, {"n", cdiv(p.n, p.bn)}},
        path = p.path,
        warps = 8,
        prologue_ns = 200,
        epilogue_ns = 100,
        program = function(m, n)
            local at, size, loads = {m * p.bm, n * p.bn}, {p.bm, p.bn}, {}
            for i, X in ipairs(inputs) do loads[i] = box(X, at, size) end
            return {{loads = loads, stores = {box(Y, at, size)}}}
        end,
    }
end
