-- SPDX-License-Identifier: Apache-2.0
-- What a microbenchmark of a cache does: one piece of memory after the other, pass after pass. Each read waits for the
-- one before it, so the model's caches meet them in exactly this order.
about = "pieces of memory read at a stride, pass after pass"
params = {
    {"pieces", 16, "pieces of a pass", max = 1048576},
    {"bytes", 128, "bytes of a piece", max = 65536},
    {"stride", 128, "bytes from a piece to the next; at least the piece", max = 1073741824},
    {"passes", 1, "how often all pieces are read", max = 256},
    {"ctas", 1, "CTAs that do so", max = 65536},
    {"own", false, "whether each CTA has pieces of its own; else all read the same ones"},
    {"path", "ld", "how a piece is loaded", {"tma", "cp.async", "ld"}},
}

function kernel(p)
    if p.stride < p.bytes then error("stride=" .. p.stride .. ": pieces of " .. p.bytes .. " bytes would overlap", 0) end
    -- All CTAs read one matrix of pieces, or each a matrix of its own.
    local shape, strides = {p.pieces, p.bytes}, {p.stride, 1}
    if p.own then shape, strides = {p.ctas, p.pieces, p.bytes}, {p.pieces * p.stride, p.stride, 1} end
    local A = tensor("A", shape, "int8", strides)
    return {
        title = string.format("strided %d x %d B every %d B, %d pass%s by %d CTA%s", p.pieces, p.bytes, p.stride,
                              p.passes, p.passes == 1 and "" or "es", p.ctas, p.ctas == 1 and "" or "s"),
        grid = {{"cta", p.ctas}, {"one", 1}},
        path = p.path,
        warps = 1,
        prologue_ns = 0,
        epilogue_ns = 0,
        program = function(cta)
            local piece = p.own and box(A, {cta, 0, 0}, {1, 1, p.bytes}, {0, 1, 0}) or box(A, {0, 0}, {1, p.bytes}, {1, 0})
            local passes = {}
            for i = 1, p.passes do passes[i] = {count = p.pieces, loads = {piece}} end
            return passes
        end,
    }
end
