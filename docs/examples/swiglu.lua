-- SPDX-License-Identifier: Apache-2.0
about = "H = silu(X U) * (X V): the first half of a SwiGLU layer, both products in one CTA"
params = {{"tokens", 8192, "rows of X"}, {"hidden", 14336, "columns of U and V"}, {"model", 4096, "depth"}}

function kernel(p)
    local bm, bn, bk, stages = 128, 128, 64, 4
    local X = tensor("X", {p.tokens, p.model}, "bf16")
    local U, V = tensor("U", {p.hidden, p.model}, "bf16"), tensor("V", {p.hidden, p.model}, "bf16")
    local H = tensor("H", {p.tokens, p.hidden}, "bf16")
    return {
        grid = {{"tokens", cdiv(p.tokens, bm)}, {"hidden", cdiv(p.hidden, bn)}},
        stages = stages, warps = 8, registers = 168, shared_memory = stages * (bm + 2 * bn) * bk * 2,
        program = function(m, n)
            local x, w, step = {m * bm, 0}, {n * bn, 0}, {0, bk}
            local loads = {box(X, x, {bm, bk}, step), box(U, w, {bn, bk}, step), box(V, w, {bn, bk}, step)}
            return {{count = cdiv(p.model, bk), loads = loads, flops = 2 * bm * 2 * bn * bk},
                    {stores = {box(H, {m * bm, n * bn}, {bm, bn})}}}
        end,
    }
end
