-- SPDX-License-Identifier: Apache-2.0
-- FlashAttention forward: a CTA keeps a block of queries and walks the keys and values of its head. Row_major is Triton's
-- "naive head-first" order (blocks of a head one after the other), column_major "block-first" (heads fastest); remaps of
-- the dies go before either (NUMA-aware attention, arXiv 2511.02132).
about = "O = softmax(Q K^T) V, forward; a CTA per block of queries of a head"
params = {
    {"batch", 1, "sequences"},
    {"heads", 16, "query heads"},
    {"kv_heads", 0, "key and value heads; 0: as many as query heads", min = 0},
    {"seq", 8192, "positions of a sequence"},
    {"queries", 0, "its last positions that ask; 0: all", min = 0},
    {"dim", 128, "elements of a head", max = 256},
    {"bq", 128, "queries of a CTA", max = 1024},
    {"bk", 0, "keys of a step; 0: 128, or as many as fit", min = 0, max = 1024},
    {"causal", false, "no query looks at later keys"},
    {"block_order", "up", "which block of queries a tile stands for: ascending, or longest first", {"up", "down"}},
    {"stages", 0, "buffers for keys and values; 0: 2, or as many as fit", min = 0, max = 16},
    {"warps", 8, "warps that do the math", {4, 8, 12, 16}},
    {"pipeline", "warp_specialized", "who issues the loads: the math warps, or a warp of its own", {"multistage", "warp_specialized"}},
    {"layout", "bhsd", "b[atch] h[ead] s[equence] d[im], slowest first", {"bhsd", "bshd"}},
    {"dtype", "bf16", "element type", {"bf16", "fp16", "fp8"}},
    {"path", "tma", "how blocks are loaded", {"tma", "cp.async", "ld"}},
    {"keep_q", "shared", "where a CTA keeps its queries (Triton for AMD: registers)", {"shared", "registers"}},
    {"kv_loads", "together", "a step loads keys and values, or keys, then values (as one buffer asks)", {"together", "in_turn"}},
    {"o_store", 0, "elements of a row of O that one store instruction writes; 0: all", min = 0, max = 256},
}

local function shared_memory(p, bk, stages)
    local rows = stages * 2 * bk + (p.keep_q == "shared" and p.bq or 0)
    return rows * p.dim * sizeof(p.dtype)
end

-- The first of the usual sizes with which the queries and the buffers fit a CTA.
local function choose_blocks(p, room)
    local function fits(bk, stages) return shared_memory(p, bk, stages) <= room end
    for _, choice in ipairs({{128, 2}, {64, 2}, {64, 1}, {32, 2}, {32, 1}}) do
        local bk, stages = p.bk > 0 and p.bk or choice[1], p.stages > 0 and p.stages or choice[2]
        if fits(bk, stages) then return bk, stages end
    end
    return p.bk > 0 and p.bk or 16, p.stages > 0 and p.stages or 1
end

-- What a thread that keeps queries takes: Triton's with waves_per_eu = 2 on an MI300X. The warp that issues the loads and the
-- three beside it take as many, so that queries in registers leave room for fewer warps that do the math.
local QUERY_REGISTERS = 224

local function check_registers(p, threads, gpu)
    if p.keep_q ~= "registers" or not gpu or threads * QUERY_REGISTERS <= gpu.registers then return end
    local fit = gpu.registers // (QUERY_REGISTERS * 32) // 4 * 4
    local right = "warps=" .. max(4, p.pipeline == "warp_specialized" and fit - 4 or fit)
    if p.pipeline == "warp_specialized" and p.warps <= fit then right = right .. " or pipeline=multistage" end
    error(string.format("attention: keep_q=registers takes %d registers of each of %d threads, an SM of %s has %d; take %s",
                        QUERY_REGISTERS, threads, gpu.name, gpu.registers, right), 0)
end

function kernel(p, gpu)
    p.bk, p.stages = choose_blocks(p, gpu and gpu.shared_memory or 227 * 1024)
    if p.kv_heads == 0 then p.kv_heads = p.heads end
    assert(p.heads % p.kv_heads == 0, "attention: heads must be a multiple of kv_heads")
    local by_head = p.layout == "bhsd"
    local function heads_of(name, heads, seq)
        return tensor(name, by_head and {p.batch, heads, seq, p.dim} or {p.batch, seq, heads, p.dim}, p.dtype)
    end
    if p.queries == 0 then p.queries = p.seq end
    assert(p.queries <= p.seq, "attention: queries are the last positions of seq, at most all")
    local Q = heads_of("Q", p.heads, p.queries)
    -- In turn: the values of each block of keys lie behind it, so that a step of the walk is the one or the other.
    local parts = p.kv_loads == "in_turn" and 2 or 1
    assert(parts == 1 or p.seq % p.bk == 0, "attention: kv_loads=in_turn needs a seq that is a multiple of bk")
    local K = heads_of(parts == 2 and "KV" or "K", p.kv_heads, parts * p.seq)
    local V = parts == 1 and heads_of("V", p.kv_heads, p.seq)
    local O = heads_of("O", p.heads, p.queries)
    local lse = tensor("lse", {p.batch * p.heads, p.queries}, "fp32")
    local blocks = cdiv(p.queries, p.bq)
    local threads = 32 * (p.warps + (p.pipeline == "warp_specialized" and 4 or 0))
    check_registers(p, threads, gpu)

    local function rows(T, batch, head, from, count, step)
        if by_head then return box(T, {batch, head, from, 0}, {1, 1, count, p.dim}, {0, 0, step, 0}) end
        return box(T, {batch, from, head, 0}, {1, count, 1, p.dim}, {0, step, 0, 0})
    end

    -- MFMA leaves a lane four elements of a row. Written as they are, two lanes' side by side, each line of O is
    -- written by eight instructions of 16 B, and each is a request to the L2.
    local function output(batch, head, from)
        local whole, pieces = rows(O, batch, head, from, p.bq, 0), {}
        if p.o_store == 0 then return {whole} end
        for at = 0, p.dim - 1, p.o_store do
            local size = min(p.o_store, p.dim - at)
            local start = by_head and {batch, head, from, at} or {batch, from, head, at}
            table.insert(pieces, box(O, start, by_head and {1, 1, p.bq, size} or {1, p.bq, 1, size}))
        end
        return pieces
    end

    -- What a step costs beside its matrix math. An exponential a score, of which an SM does 16 a cycle, when one group of warps
    -- does both in turn. Two groups of a warp-specialized kernel take turns at the tensor cores, so that a step lasts as long
    -- as half of its math and what a group does between: 5.4 cycles a key for its 64 queries, four of them exponentials, and
    -- 854 for what does not grow with the keys. The two are from the cycles of launches with 128 and 64 keys a step; they
    -- give those of 64 elements a head, too, to 2 % (traces/h200/attention.csv).
    local function beside_math(flops)
        local exponentials = p.bq * p.bk / 16
        local math = flops / (4096 * 2 / sizeof(p.dtype))
        if p.pipeline ~= "warp_specialized" or p.warps ~= 8 then return exponentials end
        return max(0, max(exponentials, 5.4 * p.bk * p.bq / 128 + 854 + math / 2) - math)
    end

    return {
        title = string.format("attention %dx%d heads (%d of keys) x %d x %d %s%s", p.batch, p.heads, p.kv_heads, p.seq, p.dim,
                              p.dtype, p.causal and ", causal" or ""),
        grid = {{"head", p.batch * p.heads}, {"block", blocks}},
        stages = p.stages,
        pipeline = p.pipeline,
        math = p.dtype,
        path = p.path,
        pace_spread = 0.007,  -- of CTAs with equal work, on an H200 (traces/h200/attention_schedules.csv)
        threads = threads,
        registers = p.keep_q == "registers" and QUERY_REGISTERS or 168,
        shared_memory = shared_memory(p, p.bk, p.stages),
        program = function(head, block)
            if p.block_order == "down" then block = blocks - 1 - block end
            local batch, h = head // p.heads, head % p.heads
            local kv, first = h // (p.heads // p.kv_heads), block * p.bq
            local written = output(batch, h, first)
            table.insert(written, box(lse, {head, first}, {1, p.bq}))
            local keys = p.causal and min(p.seq, p.seq - p.queries + first + p.bq) or p.seq
            return {
                {loads = {rows(Q, batch, h, first, p.bq, 0)}},
                {
                    count = parts * cdiv(keys, p.bk),
                    flops = 4 * p.bq * p.bk * p.dim / parts,
                    cycles = beside_math(4 * p.bq * p.bk * p.dim) / parts,
                    loads = {rows(K, batch, kv, 0, p.bk, p.bk), V and rows(V, batch, kv, 0, p.bk, p.bk) or nil},
                },
                {stores = written},
            }
        end,
    }
end
