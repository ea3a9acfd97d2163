-- SPDX-License-Identifier: Apache-2.0
-- TFLA's fw_parallel (Beck et al., arXiv 2503.14376) as mlstm_kernels' xl_chunk launches it: grid (value tiles, query tiles
-- of a chunk, chunks x heads x batch), x fastest, which is row_major here. A CTA re-reads its queries for every tile of
-- keys, reads keys up to its own queries only, and the fp32 state of its chunk. Chunks share nothing.
about = "H of a linear RNN (mLSTM) inside each chunk, from the queries, keys, values and the chunk's state"
params = {
    {"batch", 4, "sequences"},
    {"heads", 8, "heads"},
    {"seq", 8192, "positions of a sequence"},
    {"dqk", 64, "elements of a query or key", max = 1024},
    {"dhv", 64, "elements of a value", max = 1024},
    {"chunk", 256, "positions of a chunk", max = 65536},
    {"bq", 64, "queries of a CTA", max = 1024},
    {"bkv", 64, "keys and values of a step", max = 1024},
    {"bdk", 64, "elements of a query or key at a time", max = 1024},
    {"bdv", 128, "elements of a value of a CTA", max = 1024},
    {"fused", false, "the output gate inside the epilogue: H times sigmoid(G)"},
    {"warps", 4, "warps of a CTA", {1, 2, 4, 8, 16}},
    {"dtype", "bf16", "element type of Q, K, V, G and H; states and gates are fp32", {"bf16", "fp16", "fp32"}},
    {"path", "ld", "how blocks are loaded", {"ld", "cp.async", "tma"}},
}

function kernel(p)
    p.bdk, p.bdv = min(p.bdk, p.dqk), min(p.bdv, p.dhv)
    assert(p.seq % p.chunk == 0, "tfla_parallel: seq must be a multiple of chunk")
    assert(p.chunk % p.bq == 0 and p.bq % p.bkv == 0, "tfla_parallel: chunk must be a multiple of bq, and bq of bkv")
    local bh, chunks = p.batch * p.heads, p.seq // p.chunk
    local Q, K = tensor("Q", {bh, p.seq, p.dqk}, p.dtype), tensor("K", {bh, p.seq, p.dqk}, p.dtype)
    local V, H = tensor("V", {bh, p.seq, p.dhv}, p.dtype), tensor("H", {bh, p.seq, p.dhv}, p.dtype)
    local C, N = tensor("C", {bh, chunks + 1, p.dqk, p.dhv}, "fp32"), tensor("N", {bh, chunks + 1, p.dqk}, "fp32")
    local M, decay = tensor("M", {bh, chunks + 1}, "fp32"), tensor("vecB", {bh, p.seq}, "fp32")
    local input = tensor("vecI", {bh, p.seq}, "fp32")
    local n_out, m_out = tensor("n", {bh, p.seq}, "fp32"), tensor("m", {bh, p.seq}, "fp32")
    local G = p.fused and tensor("G", {bh, p.seq, p.dhv}, p.dtype)
    local values, dk_steps = cdiv(p.dhv, p.bdv), cdiv(p.dqk, p.bdk)
    local key_flops, value_flops = 2 * p.bq * p.bkv * p.bdk, 2 * p.bq * p.bkv * p.bdv

    -- What a warp of gpu/kernels' tfla_parallel issues for a tile of 64 queries and 64 keys on four warps, from the sizes that
    -- ptxas 13.0 gives the kernel with and without a part: 280 for loading and multiplying keys, 790 for weights and values,
    -- 608 for the state, 640 for the gate, some 600 before and after. A warp waits four cycles for the result of the instruction
    -- before (Jia et al., arXiv 1804.06826), so that each of the four schedulers issues in w / 4 of the cycles when it has w
    -- warps to choose from. Its mma.sync run at 0.63 of the rate of wgmma (Luo et al., arXiv 2402.13499).
    local registers = min(255, p.bq * (p.bkv + 2 * p.bdv) // (p.warps * 32) + 72)  -- as many CTAs as were measured to fit
    local resident = 65536 // (cdiv(registers, 8) * 8 * 32 * p.warps)
    local slots = p.bq * p.bkv / (64 * 64) / min(1, max(1, resident) * p.warps / 16)
    local function issued(instructions) return instructions * slots end
    local mma = (1 / 0.63 - 1) / 4096
    -- The state's fp32 come four loads of 16 B of a thread at a time.
    local deep = max(1, min(p.bdk, p.warps * 32 * 4 * 16 // (4 * p.bdv)))
    local batches = cdiv(p.bdk, deep)

    return {
        title = string.format("tfla_parallel %dx%d heads x %d, %d / %d wide, chunk %d%s", p.batch, p.heads, p.seq, p.dqk,
                              p.dhv, p.chunk, p.fused and ", gated" or ""),
        grid = {{"bh", bh}, {"chunk", chunks}, {"part", p.chunk // p.bq * values}},
        path = p.path,
        warps = p.warps,
        registers = registers,
        shared_memory = (p.bq + p.bkv) * p.bdk * sizeof(p.dtype) + p.bkv * p.bdv * sizeof(p.dtype),
        prologue_ns = 300,
        epilogue_ns = 200,
        program = function(b, c, part)
            local query, value = part // values, part % values
            local start, first, v = c * p.chunk, c * p.chunk + query * p.bq, value * p.bdv
            local queries = box(Q, {b, first, 0}, {1, p.bq, p.bdk}, {0, 0, p.bdk})
            local phases = {{loads = {box(decay, {b, first}, {1, p.bq})}, cycles = issued(200)}}
            for j = 0, (query + 1) * p.bq // p.bkv - 1 do
                local key = start + j * p.bkv
                table.insert(phases, {count = dk_steps, flops = key_flops, cycles = issued(280) + key_flops * mma,
                                      loads = {queries, box(K, {b, key, 0}, {1, p.bkv, p.bdk}, {0, 0, p.bdk})}})
                table.insert(phases, {flops = value_flops, cycles = issued(790) + value_flops * mma,
                                      loads = {box(decay, {b, key}, {1, p.bkv}), box(input, {b, key}, {1, p.bkv}),
                                               box(V, {b, key, v}, {1, p.bkv, p.bdv})}})
            end
            table.insert(phases, {loads = {box(M, {b, c}, {1, 1})}})
            for batch = 0, batches - 1 do
                local state = box(C, {b, c, batch * deep, v}, {1, 1, min(deep, p.bdk - batch * deep), p.bdv},
                                  {0, 0, p.bdk, 0})
                table.insert(phases, {count = dk_steps, loads = batch == 0 and {queries, state} or {state}})
            end
            table.insert(phases, {count = dk_steps, flops = 2 * p.bq * p.bdk * p.bdv, cycles = issued(608),
                                  loads = {box(N, {b, c, 0}, {1, 1, p.bdk}, {0, 0, p.bdk})}})
            local out = {1, p.bq, p.bdv}
            if G then  -- a piece of 16 B a thread, which waits for the store of the one before: they might be one place
                local rows = min(p.bq, max(1, p.warps * 32 * 16 // (p.bdv * sizeof(p.dtype))))
                table.insert(phases, {count = cdiv(p.bq, rows), cycles = issued(640) * rows / p.bq,
                                      loads = {box(G, {b, first, v}, {1, rows, p.bdv}, {0, rows, 0})}})
            end
            local stores = {box(H, {b, first, v}, out)}
            if value == 0 then
                table.insert(stores, box(n_out, {b, first}, {1, p.bq}))
                table.insert(stores, box(m_out, {b, first}, {1, p.bq}))
            end
            table.insert(phases, {stores = stores, cycles = issued(400)})
            return phases
        end,
    }
end
