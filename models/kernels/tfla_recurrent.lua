-- SPDX-License-Identifier: Apache-2.0
-- TFLA's fw_recurrent (mlstm_kernels, xl_chunk): one CTA per block of a head's state goes through the chunks one after the
-- other and stores the state between them, in fp32. Few CTAs; tfla_parallel reads the states right after.
about = "The states of a linear RNN (mLSTM) between chunks, from the keys, values and gates"
params = {
    {"batch", 4, "sequences"},
    {"heads", 8, "heads"},
    {"seq", 8192, "positions of a sequence"},
    {"dqk", 64, "elements of a key", max = 1024},
    {"dhv", 64, "elements of a value", max = 1024},
    {"chunk", 256, "positions of a chunk", max = 65536},
    {"save_every", 1, "every how many chunks the state is stored", max = 65536},
    {"bdk", 64, "rows of a block of the state", max = 1024},
    {"bdv", 64, "columns of a block of the state", max = 1024},
    {"warps", 4, "warps of a CTA", {1, 2, 4, 8, 16}},
    {"dtype", "bf16", "element type of K and V; states and gates are fp32", {"bf16", "fp16", "fp32"}},
    {"path", "ld", "how blocks are loaded", {"ld", "cp.async", "tma"}},
}

function kernel(p)
    p.bdk, p.bdv = min(p.bdk, p.dqk), min(p.bdv, p.dhv)
    assert(p.seq % p.chunk == 0, "tfla_recurrent: seq must be a multiple of chunk")
    local bh, chunks = p.batch * p.heads, p.seq // p.chunk
    local K, V = tensor("K", {bh, p.seq, p.dqk}, p.dtype), tensor("V", {bh, p.seq, p.dhv}, p.dtype)
    local saved = chunks // p.save_every + 1
    local C, N = tensor("C", {bh, saved, p.dqk, p.dhv}, "fp32"), tensor("N", {bh, saved, p.dqk}, "fp32")
    local M = tensor("M", {bh, saved}, "fp32")
    local forget, input = tensor("vecF", {bh, p.seq}, "fp32"), tensor("vecI", {bh, p.seq}, "fp32")
    local keys, values = cdiv(p.dqk, p.bdk), cdiv(p.dhv, p.bdv)
    return {
        title = string.format("tfla_recurrent %dx%d heads x %d, %d / %d wide, chunk %d", p.batch, p.heads, p.seq, p.dqk,
                              p.dhv, p.chunk),
        grid = {{"bh", bh}, {"value", values}, {"key", keys}},
        path = p.path,
        warps = p.warps,
        registers = min(255, p.bdk * p.bdv // (p.warps * 32) + 64),
        shared_memory = p.chunk * (p.bdk + p.bdv) * sizeof(p.dtype),
        prologue_ns = 300,
        epilogue_ns = 200,
        program = function(b, value, key)
            local k, v, phases = key * p.bdk, value * p.bdv, {}
            local function save(slot)
                local stores = {box(C, {b, slot, k, v}, {1, 1, p.bdk, p.bdv})}
                if value == 0 then table.insert(stores, box(N, {b, slot, k}, {1, 1, p.bdk})) end
                if value == 0 and key == 0 then table.insert(stores, box(M, {b, slot}, {1, 1})) end
                return stores
            end
            for c = 0, chunks - 1 do
                local at = c * p.chunk
                table.insert(phases, {
                    flops = 2 * p.chunk * p.bdk * p.bdv,
                    loads = {box(K, {b, at, k}, {1, p.chunk, p.bdk}), box(V, {b, at, v}, {1, p.chunk, p.bdv}),
                             box(forget, {b, at}, {1, p.chunk}), box(input, {b, at}, {1, p.chunk})},
                    stores = c % p.save_every == 0 and save(c // p.save_every) or {},
                })
            end
            if chunks % p.save_every == 0 then table.insert(phases, {stores = save(chunks // p.save_every)}) end
            return phases
        end,
    }
end
