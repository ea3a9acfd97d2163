-- SPDX-License-Identifier: Apache-2.0
-- One pass: a CTA keeps its row in registers (Triton tutorial 02). More passes re-read the row, as rows too long for
-- the registers need: two with the online maximum and sum (Milakov and Gimelshein, arXiv 1805.02867), three without.
-- With several chunks the CTAs of a row each read all of it for its maximum and sum and write a chunk of their own, so
-- whether they meet in the L2 (on an MI300X: in the L2 of one die) is a matter of their order.
about = "Y = softmax of each row of X; a CTA writes a row, or a chunk of one"
params = {
    {"rows", 8192, "rows of X"},
    {"cols", 8192, "columns of X"},
    {"chunks", 1, "CTAs that share a row", max = 4096},
    {"passes", 1, "times a CTA goes over its row: 1 (the row stays in registers), 2 (online), 3", {1, 2, 3}},
    {"warps", 8, "warps of a CTA", {1, 2, 4, 8, 16, 32}},
    {"dtype", "bf16", "element type", {"bf16", "fp16", "fp32"}},
    {"path", "ld", "how rows are loaded", {"ld", "cp.async"}},
}

function kernel(p)
    assert(p.chunks == 1 or p.passes > 1, "softmax: chunks of a row need passes=2 or passes=3")
    local X, Y = tensor("X", {p.rows, p.cols}, p.dtype), tensor("Y", {p.rows, p.cols}, p.dtype)
    local chunk = cdiv(p.cols, p.chunks)
    local width = min(p.cols, p.warps * 32 * 4 * 16 // sizeof(p.dtype))  -- four loads of 16 B in flight per thread
    -- What the warps of gpu/kernels' softmax_held issue: ptxas 13.0 makes 288, 384, 576, 992, 1840 instructions for 1, 2, 4, 8,
    -- 16 pieces of 16 B a thread. What does not grow with the pieces are the two reductions over the CTA. The four schedulers of
    -- an SM issue in 0.91 of the cycles: rows of 1024 columns on 4 and 8 warps wait for nothing else (traces/h200/softmax.csv).
    local a_cycle = 4 * 0.91
    local reductions, piece = 185 * p.warps / a_cycle, 103 / a_cycle
    local issued = reductions + piece * cdiv(p.cols * sizeof(p.dtype), 16 * 32)
    local exponentials = 16  -- of an SM a cycle: CUDA C++ Programming Guide, arithmetic throughput, cc 9.0
    -- Elements of an SM a cycle of a pass that re-reads: the maximum and the sum together, the maximum alone, the sum; of
    -- the pass that writes. The first is 12.7 to 13.0 in the times of gpu/kernels' launches in 8, 16 and 32 chunks, which the L2
    -- serves, the second is from those of three passes.
    local both, maximum, sum, written = 12.9, 27.5, exponentials, 16 * 32 / sizeof(p.dtype) / piece
    -- The CTAs of an SM take turns at its issue slots, so that steps of equal work differ by so many cycles. Without,
    -- CTAs that read the same row stay in step and merge two thirds of their requests; on an H200 it is a third.
    local uneven = p.passes > 1 and 400 or 0
    -- Registers of gpu/kernels: a row that is held takes four per 16 B of a thread.
    local held = cdiv(p.cols * sizeof(p.dtype), 16 * 32 * p.warps)
    local registers = p.passes > 1 and 48 or held <= 2 and 32 or held <= 4 and 40 or held <= 8 and 64 or 128
    return {
        title = string.format("softmax %dx%d %s, %d chunk(s) a row, %d pass(es)", p.rows, p.cols, p.dtype, p.chunks, p.passes),
        grid = {{"row", p.rows}, {"chunk", p.chunks}},
        path = p.path,
        warps = p.warps,
        registers = registers,
        stages = 2,
        math_jitter_cycles = uneven,
        prologue_ns = 200,
        epilogue_ns = 100,
        program = function(row, c)
            if p.passes == 1 then
                local whole, at = {1, p.cols}, {row, 0}
                return {{loads = {box(X, at, whole)}, stores = {box(Y, at, whole)}, cycles = max(issued, p.cols / exponentials)}}
            end
            local phases = {}
            local function walk(from, stop, size, rate, stores, before)
                local function add(at, count, columns)
                    local there = box(X, {row, at}, {1, columns}, {0, columns})
                    table.insert(phases, {count = count, loads = {there},
                                          stores = stores and {box(Y, {row, at}, {1, columns}, {0, columns})} or {},
                                          cycles = max(0, (before or 0) + columns / rate - uneven / 2)})
                    before = 0
                end
                local steps = (stop - from) // size
                if before and steps > 0 then
                    add(from, 1, size)
                    from, steps = from + size, steps - 1
                end
                if steps > 0 then add(from, steps, size) end
                if from + steps * size < stop then add(from + steps * size, 1, stop - from - steps * size) end
            end
            if p.passes == 3 then walk(0, p.cols, width, maximum, false) end
            walk(0, p.cols, width, p.passes == 3 and sum or both, false)
            local first, stop = c * chunk, min(p.cols, (c + 1) * chunk)
            walk(first, stop, min(chunk, width), written, true, reductions)
            return phases
        end,
    }
end
