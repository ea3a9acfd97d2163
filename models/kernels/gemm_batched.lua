-- SPDX-License-Identifier: Apache-2.0
-- Batches are the outer loop (CUTLASS: blockIdx.z); an order walks the tiles of each. With a stride of 0 all batches share B.
about = "C[i] = A[i] B[i], batch after batch"
params = {
    {"batch", 16, "products"},
    {"m", 2048, "rows of each C"},
    {"n", 2048, "columns of each C"},
    {"k", 2048, "depth"},
    {"shared_b", false, "one B for all products"},
    {"bm", 128, "rows of a tile", max = 1024},
    {"bn", 128, "columns of a tile", max = 1024},
    {"bk", 64, "depth of a step", max = 1024},
    {"stages", 0, "buffers for the boxes of a step; 0: as many as fit, at most 4", min = 0, max = 16},
    {"dtype", "bf16", "element type of A and B; C is bf16", {"bf16", "fp16", "fp8"}},
}

function kernel(p, gpu)
    local bm, bn, bk = p.bm, p.bn, p.bk
    if p.stages == 0 then
        p.stages = gpu and max(1, min(4, gpu.shared_memory // ((bm + bn) * bk * sizeof(p.dtype)))) or 4
    end
    local A, B = tensor("A", {p.batch, p.m, p.k}, p.dtype), tensor("B", {p.shared_b and 1 or p.batch, p.n, p.k}, p.dtype)
    local C = tensor("C", {p.batch, p.m, p.n}, "bf16")
    return {
        title = string.format("gemm_batched %d x %dx%dx%d %s, tile %dx%dx%d", p.batch, p.m, p.n, p.k, p.dtype, bm, bn, bk),
        grid = {{"batch", p.batch}, {"m", cdiv(p.m, bm)}, {"n", cdiv(p.n, bn)}},
        stages = p.stages,
        math = p.dtype,
        warps = bm * bn > 128 * 128 and 8 or 4,
        registers = min(255, bm * bn // (bm * bn > 128 * 128 and 256 or 128) + 26),
        shared_memory = max(p.stages * (bm + bn) * bk * sizeof(p.dtype), bm * bn * 2),
        program = function(i, tm, tn)
            local b = p.shared_b and 0 or i
            return {
                {count = cdiv(p.k, bk), flops = 2 * bm * bn * bk, cycles = 11,
                 loads = {box(A, {i, tm * bm, 0}, {1, bm, bk}, {0, 0, bk}), box(B, {b, tn * bn, 0}, {1, bn, bk}, {0, 0, bk})}},
                {stores = {box(C, {i, tm * bm, tn * bn}, {1, bm, bn})}},
            }
        end,
    }
end
