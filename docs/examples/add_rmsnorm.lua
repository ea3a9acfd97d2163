-- SPDX-License-Identifier: Apache-2.0
about = "S = X + R, Y = S / rms(S) * W: the residual addition and the normalisation in front of every transformer block"
params = {
    {"tokens", 8192, "rows"},
    {"model", 4096, "columns"},
    {"rows", 4, "rows of a CTA", max = 64},
    {"keep", true, "S is kept in registers; false: it is written, then read again"},
}

function kernel(p)
    local X, R = tensor("X", {p.tokens, p.model}, "bf16"), tensor("R", {p.tokens, p.model}, "bf16")
    local S, Y = tensor("S", {p.tokens, p.model}, "bf16"), tensor("Y", {p.tokens, p.model}, "bf16")
    local W = tensor("W", {p.model}, "bf16")
    return {
        grid = {{"rows", cdiv(p.tokens, p.rows)}, {"one", 1}},
        path = "ld", warps = 8, registers = 48, prologue_ns = 200, epilogue_ns = 100,
        program = function(block)
            local at, size = {block * p.rows, 0}, {p.rows, p.model}
            local apply = {loads = {box(W, {0}, {p.model})}, stores = {box(Y, at, size)}}
            if not p.keep then table.insert(apply.loads, box(S, at, size)) end
            return {{loads = {box(X, at, size), box(R, at, size)}, stores = {box(S, at, size)}}, apply}
        end,
    }
end
