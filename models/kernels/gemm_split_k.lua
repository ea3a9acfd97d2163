-- SPDX-License-Identifier: Apache-2.0
-- `split` CTAs share a tile of C, each with a part of the depth (slices outermost, as CUTLASS' SplitK puts them on
-- blockIdx.z). Their fp32 partial sums go to a workspace that a second kernel adds up, or into C by reductions in the L2.
about = "C = A B with the depth split over several CTAs"
params = {
    {"m", 1024, "rows of C"},
    {"n", 1024, "columns of C"},
    {"k", 32768, "depth"},
    {"split", 4, "CTAs that share a tile", max = 256},
    {"sum", "workspace", "partial sums: stored and added by a second kernel, or reduced in the L2", {"workspace", "reduce"}},
    {"bm", 128, "rows of a tile", max = 1024},
    {"bn", 128, "columns of a tile", max = 1024},
    {"bk", 64, "depth of a step", max = 1024},
    {"stages", 0, "buffers for the boxes of a step; 0: as many as fit, at most 4", min = 0, max = 16},
    {"dtype", "bf16", "element type of A and B", {"bf16", "fp16", "fp8"}},
}

function kernel(p, gpu)
    local bm, bn, bk = p.bm, p.bn, p.bk
    if p.stages == 0 then
        p.stages = gpu and max(1, min(4, gpu.shared_memory // ((bm + bn) * bk * sizeof(p.dtype)))) or 4
    end
    local A, B = tensor("A", {p.m, p.k}, p.dtype), tensor("B", {p.n, p.k}, p.dtype)
    local reduce = p.sum == "reduce"
    local C = tensor("C", {p.m, p.n}, reduce and "fp32" or "bf16")
    local W = not reduce and tensor("W", {p.split, p.m, p.n}, "fp32")
    local steps = cdiv(cdiv(p.k, bk), p.split)

    local products = {
        grid = {{"slice", p.split}, {"m", cdiv(p.m, bm)}, {"n", cdiv(p.n, bn)}},
        stages = p.stages,
        math = p.dtype,
        warps = bm * bn > 128 * 128 and 8 or 4,
        registers = min(255, bm * bn // (bm * bn > 128 * 128 and 256 or 128) + 26),
        shared_memory = max(p.stages * (bm + bn) * bk * sizeof(p.dtype), bm * bn * 2),
        program = function(slice, tm, tn)
            local from = slice * steps
            local count = max(0, min(steps, cdiv(p.k, bk) - from))
            local out = W and box(W, {slice, tm * bm, tn * bn}, {1, bm, bn})
                        or box(C, {tm * bm, tn * bn}, {bm, bn}, {reduce = true})
            return {
                {count = count, flops = 2 * bm * bn * bk, cycles = 11,
                 loads = {box(A, {tm * bm, from * bk}, {bm, bk}, {0, bk}), box(B, {tn * bn, from * bk}, {bn, bk}, {0, bk})}},
                {stores = {out}},
            }
        end,
    }
    local adding = {
        grid = {{"m", cdiv(p.m, 8)}, {"n", cdiv(p.n, 256)}},
        path = "ld",
        warps = 8,
        prologue_ns = 200,
        epilogue_ns = 100,
        program = function(tm, tn)
            local at, size, loads = {tm * 8, tn * 256}, {8, 256}, {}
            for slice = 0, p.split - 1 do
                loads[slice + 1] = box(W, {slice, at[1], at[2]}, {1, size[1], size[2]}, {path = "ld"})
            end
            return {{loads = loads, stores = {box(C, at, size)}}}
        end,
    }
    return {
        title = string.format("gemm_split_k %dx%dx%d %s, %d slices, %s", p.m, p.n, p.k, p.dtype, p.split, p.sum),
        launches = W and {products, adding} or {products},
    }
end
