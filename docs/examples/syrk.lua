-- SPDX-License-Identifier: Apache-2.0
about = "C = A A^T, the tiles on and below the diagonal only: launched along one axis, since a triangle is no grid"
params = {{"m", 8192, "rows of A"}, {"k", 8192, "columns of A"}}

function kernel(p)
    local b, bk, stages = 128, 64, 4
    local A, C = tensor("A", {p.m, p.k}, "bf16"), tensor("C", {p.m, p.m}, "bf16")
    local rows = cdiv(p.m, b)
    local function tile(id)  -- row by row
        local row = 0
        while (row + 1) * (row + 2) // 2 <= id do row = row + 1 end
        return row, id - row * (row + 1) // 2
    end
    return {
        grid = {{"tile", rows * (rows + 1) // 2}, {"one", 1}},
        stages = stages, warps = 8, registers = 168, shared_memory = stages * 2 * b * bk * 2,
        program = function(id)
            local i, j = tile(id)
            local loads = {box(A, {i * b, 0}, {b, bk}, {0, bk}), box(A, {j * b, 0}, {b, bk}, {0, bk})}
            return {{count = cdiv(p.k, bk), loads = loads, flops = 2 * b * b * bk},
                    {stores = {box(C, {i * b, j * b}, {b, b})}}}
        end,
    }
end
