-- SPDX-License-Identifier: Apache-2.0
-- One pass keeps the row in registers; two read it for its sum and sum of squares and again to apply them; three read it
-- for the mean, the variance and the result. The weight and the bias are read by every CTA: small and always hot.
about = "Y = (X - mean) * rstd * W + B for each row of X; a CTA writes a row, or a chunk of one"
params = {
    {"rows", 8192, "rows of X"},
    {"cols", 8192, "columns of X"},
    {"chunks", 1, "CTAs that share a row", max = 4096},
    {"passes", 1, "times a CTA goes over its row: 1 (the row stays in registers), 2, 3", {1, 2, 3}},
    {"warps", 8, "warps of a CTA", {1, 2, 4, 8, 16, 32}},
    {"dtype", "bf16", "element type of X, Y, W and B; mean and rstd are fp32", {"bf16", "fp16", "fp32"}},
    {"path", "ld", "how rows are loaded", {"ld", "cp.async"}},
}

function kernel(p)
    assert(p.chunks == 1 or p.passes > 1, "layernorm: chunks of a row need passes=2 or passes=3")
    local X, Y = tensor("X", {p.rows, p.cols}, p.dtype), tensor("Y", {p.rows, p.cols}, p.dtype)
    local W, B = tensor("W", {p.cols}, p.dtype), tensor("B", {p.cols}, p.dtype)
    local mean, rstd = tensor("mean", {p.rows}, "fp32"), tensor("rstd", {p.rows}, "fp32")
    local chunk = cdiv(p.cols, p.chunks)
    -- Four loads of 16 B in flight per thread; a row in registers is all in flight at once.
    local width = p.passes == 1 and p.cols or min(p.cols, p.warps * 32 * 4 * 16 // sizeof(p.dtype))
    -- What the warps of gpu/kernels' layernorm_held issue: ptxas 13.0 makes 368, 496, 712, 1208, 2160 instructions for 1, 2, 4,
    -- 8, 16 pieces of 16 B a thread. What does not grow with the pieces are the two reductions over the CTA. The four
    -- schedulers of an SM issue in 0.91 of the cycles, as softmax's rows say (softmax.lua).
    local a_cycle = 4 * 0.91
    local reductions, piece = 256 * p.warps / a_cycle, 118 / a_cycle
    -- Elements of an SM a cycle of a pass that re-reads, for both sums, or for the mean or the variance alone, from the times of
    -- gpu/kernels' launches in 8 to 32 chunks, which the L2 serves (traces/h200/layernorm.csv); of the pass that writes.
    local elements, written = p.passes == 3 and 23.9 or 21.9, 16 * 32 / sizeof(p.dtype) / piece
    local uneven = p.passes > 1 and 400 or 0  -- cycles by which steps of equal work differ: see softmax.lua
    -- Registers of gpu/kernels: a row that is held takes four per 16 B of a thread.
    local held = cdiv(p.cols * sizeof(p.dtype), 16 * 32 * p.warps)
    local registers = p.passes > 1 and 48 or held <= 1 and 32 or held <= 4 and 40 or held <= 8 and 64 or 128
    return {
        title = string.format("layernorm %dx%d %s, %d chunk(s) a row, %d pass(es)", p.rows, p.cols, p.dtype, p.chunks, p.passes),
        grid = {{"row", p.rows}, {"chunk", p.chunks}},
        path = p.path,
        warps = p.warps,
        registers = registers,
        stages = 2,
        math_jitter_cycles = uneven,
        prologue_ns = 200,
        epilogue_ns = 100,
        program = function(row, c)
            local phases = {}
            local function add(count, cycles, loads, stores)
                table.insert(phases, {count = count, loads = loads, stores = stores, cycles = max(0, cycles - uneven / 2)})
            end
            for pass = 2, p.passes do
                local whole = p.cols // width
                add(whole, width / elements, {box(X, {row, 0}, {1, width}, {0, width})}, {})
                local rest = p.cols - whole * width
                if rest > 0 then add(1, rest / elements, {box(X, {row, whole * width}, {1, rest})}, {}) end
            end
            local from, stop = c * chunk, min(p.cols, (c + 1) * chunk)
            while from < stop do
                local columns = min(width, stop - from)
                local at, size = {row, from}, {1, columns}
                add(1, (from == c * chunk and reductions or 0) + columns / written, {box(X, at, size), box(W, {from}, {columns}), box(B, {from}, {columns})}, {box(Y, at, size)})
                from = from + width
            end
            if c == 0 then
                table.insert(phases, {stores = {box(mean, {row}, {1}), box(rstd, {row}, {1})}})
            end
            return phases
        end,
    }
end
