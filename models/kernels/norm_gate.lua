-- SPDX-License-Identifier: Apache-2.0
-- What follows the TFLA kernel: O = H / max(|n|, 1) * sigmoid(G). Fused it is one pass; unfused the first kernel writes T
-- and the second reads it again, from the L2 as far as T fits there.
about = "The normalisation and the output gate of a linear RNN, as one kernel or as two"
params = {
    {"rows", 262144, "positions of all heads and sequences"},
    {"dim", 64, "elements of a position", max = 65536},
    {"fused", true, "one launch instead of two"},
    {"block", 64, "rows of a CTA", max = 4096},
    {"warps", 8, "warps of a CTA", {1, 2, 4, 8, 16, 32}},
    {"dtype", "bf16", "element type of H, G and O; n is fp32", {"bf16", "fp16", "fp32"}},
    {"path", "ld", "how blocks are loaded", {"ld", "cp.async", "tma"}},
}

function kernel(p)
    local H, G = tensor("H", {p.rows, p.dim}, p.dtype), tensor("G", {p.rows, p.dim}, p.dtype)
    local n, O = tensor("n", {p.rows}, "fp32"), tensor("O", {p.rows, p.dim}, p.dtype)
    local T = not p.fused and tensor("T", {p.rows, p.dim}, p.dtype)
    local size = {p.block, p.dim}

    -- What the warps issue, an instruction a cycle for each of four schedulers: ptxas 13.0 makes 400 for both stages of
    -- gpu/kernels' norm_gate, 296 for the norm, 240 for the gate, of which some 60 are not for two pieces a thread.
    local function issued(stage)
        local turns = cdiv(p.block * p.dim * sizeof(p.dtype), 16 * 2 * 32 * p.warps)
        return p.warps * (60 + turns * (stage - 60)) / 4
    end

    -- Reads the blocks of `inputs`, and of n if asked for, and writes those of `output`.
    local function pass(inputs, with_n, output, instructions)
        return {
            grid = {{"block", cdiv(p.rows, p.block)}, {"column", 1}},
            path = p.path,
            warps = p.warps,
            registers = 40,
            prologue_ns = 200,
            epilogue_ns = 100,
            program = function(b)
                local at, loads = {b * p.block, 0}, {}
                for i, X in ipairs(inputs) do loads[i] = box(X, at, size) end
                if with_n then table.insert(loads, box(n, {b * p.block}, {p.block})) end
                return {{loads = loads, stores = {box(output, at, size)}, cycles = issued(instructions)}}
            end,
        }
    end

    return {
        title = string.format("norm_gate %dx%d %s, %s", p.rows, p.dim, p.dtype, p.fused and "fused" or "two kernels"),
        launches = p.fused and {pass({H, G}, true, O, 400)} or {pass({H}, true, T, 296), pass({T, G}, false, O, 240)},
    }
end
