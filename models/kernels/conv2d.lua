-- SPDX-License-Identifier: Apache-2.0
-- Implicit GEMM as CUTLASS and cuDNN run it: M = output pixels, N = output channels, K = filter taps x input channels. A
-- CTA's output pixels are a rectangle of one image, so each tap loads a rectangle of the image, shifted: neighbouring taps
-- and neighbouring CTAs read overlapping pixels. NHWC, stride 1, padding that keeps the size.
about = "Y = X convolved with F (NHWC, stride 1, same size), as an implicit GEMM"
params = {
    {"images", 32, "images"},
    {"height", 56, "rows of an image"},
    {"width", 56, "columns of an image"},
    {"c", 128, "input channels"},
    {"k", 128, "output channels"},
    {"taps", 3, "rows and columns of the filter", {1, 3, 5, 7}},
    {"bp", 8, "output rows of a tile", max = 256},
    {"bq", 16, "output columns of a tile", max = 256},
    {"bn", 128, "output channels of a tile", max = 256},
    {"bc", 64, "input channels of a step", max = 1024},
    {"stages", 0, "buffers for the boxes of a step; 0: as many as fit, at most 4", min = 0, max = 16},
    {"dtype", "bf16", "element type", {"bf16", "fp16", "fp8"}},
    {"path", "tma", "how boxes are loaded", {"tma", "cp.async", "ld"}},
}

function kernel(p, gpu)
    local X = tensor("X", {p.images, p.height, p.width, p.c}, p.dtype)
    local F = tensor("F", {p.k, p.taps, p.taps, p.c}, p.dtype)
    local Y = tensor("Y", {p.images, p.height, p.width, p.k}, p.dtype)
    local rows, columns = cdiv(p.height, p.bp), cdiv(p.width, p.bq)
    local pixels, half = p.bp * p.bq, p.taps // 2
    if p.stages == 0 then
        p.stages = gpu and max(1, min(4, gpu.shared_memory // ((pixels + p.bn) * p.bc * sizeof(p.dtype)))) or 4
    end
    return {
        title = string.format("conv2d %dx%dx%dx%d, %d filters of %dx%d, tile %dx%dx%d", p.images, p.height, p.width, p.c,
                              p.k, p.taps, p.taps, p.bp, p.bq, p.bn),
        grid = {{"m", p.images * rows * columns}, {"n", cdiv(p.k, p.bn)}},
        stages = p.stages,
        math = p.dtype,
        path = p.path,
        warps = 8,
        registers = min(255, pixels * p.bn // 256 + 40),
        shared_memory = p.stages * (pixels + p.bn) * p.bc * sizeof(p.dtype),
        program = function(m, n)
            local image, place = m // (rows * columns), m % (rows * columns)
            local top, left = place // columns * p.bp, place % columns * p.bq
            local phases = {}
            for r = 0, p.taps - 1 do
                for s = 0, p.taps - 1 do
                    table.insert(phases, {
                        count = cdiv(p.c, p.bc),
                        flops = 2 * pixels * p.bn * p.bc,
                        loads = {box(X, {image, top + r - half, left + s - half, 0}, {1, p.bp, p.bq, p.bc}, {0, 0, 0, p.bc}),
                                 box(F, {n * p.bn, r, s, 0}, {p.bn, 1, 1, p.bc}, {0, 0, 0, p.bc})},
                    })
                end
            end
            table.insert(phases, {stores = {box(Y, {image, top, left, n * p.bn}, {1, p.bp, p.bq, p.bn})}})
            return phases
        end,
    }
end
