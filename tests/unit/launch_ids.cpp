// SPDX-License-Identifier: Apache-2.0
// Which tile does each launch id run, on a kernel with outer axes and on one that leaves tiles alone?
#include <cstdint>
#include <string>
#include <vector>

#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/ordered.hpp"
#include "support/temporary_file.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

// Copies 16 KiB a tile, of a square of tiles those on and below the diagonal.
constexpr const char* kTriangle = R"(
params = {{"side", 24, "tiles of a side"}, {"from", 0, "first row that does anything", min = 0},
          {"mode", "grid", "launch", {"grid", "static", "dynamic"}}}
function kernel(p)
    local A = tensor("A", {p.side * 64, p.side * 128}, "bf16")
    local C = tensor("C", {p.side * 64, p.side * 128}, "bf16")
    return {
        grid = {{"m", p.side}, {"n", p.side}},
        epilogue_overlaps = p.mode ~= "grid",
        stages = 2,
        program = function(row, column)
            local at, size = {row * 64, column * 128}, {64, 128}
            return {{count = column <= row and row >= p.from and 1 or 0, loads = {box(A, at, size)}, stores = {box(C, at, size)}}}
        end,
    }
end
)";

}  // namespace

TEST_CASE("Copies of a plane run one after the other, or side by side where the order says so") {
    const Machine machine = load_machine("h200");
    const Kernel kernel =
        load_kernel("gemm_batched", {"batch=3", "m=128", "n=256", "k=64", "bm=128", "bn=128"}, &machine);
    REQUIRE(kernel.grid == std::vector<std::int64_t>{3, 1, 2});
    CHECK(test::order_of("row_major", kernel, machine).tile_of_launch ==
          std::vector<std::int32_t>{0, 1, 2, 3, 4, 5});
    CHECK(test::order_of("outer_fastest:row_major", kernel, machine).tile_of_launch ==
          std::vector<std::int32_t>{0, 2, 4, 1, 3, 5});
}

TEST_CASE("A tile without a step is a CTA that leaves at once, in every mode and engine") {
    const TemporaryFile file(".lua", kTriangle);
    const Machine machine = load_machine("h200");
    constexpr double kTiles = 24.0 * 25 / 2, kSectorsOfTile = 64.0 * 128 * 2 / 32;
    SerialExecutor serial;
    for (const char* mode : {"grid", "static", "dynamic"}) {
        const Mode launched = mode[0] == 'g' ? Mode::Grid : mode[0] == 's' ? Mode::Static : Mode::Dynamic;
        const Kernel kernel = load_kernel(file.path(), {std::string("mode=") + mode}, &machine);
        const NamedOrder order = test::order_of("row_major", kernel, machine);
        CHECK(order.tile_of_launch[0] == 0);
        CHECK(order.tile_of_launch[1] == -1);
        CHECK(order.tile_of_launch[24] == 24);
        for (const Engine engine : {Engine::Line, Engine::Tile}) {
            INFO(mode << (engine == Engine::Line ? ", lines" : ", tiles"));
            PredictOptions options;
            options.sample = 1;
            const PreparedKernel prepared(machine, kernel, launched, engine, serial);
            const Prediction prediction = predict(prepared, order, options, serial);
            const double written = prediction.counters.at("lts__t_sectors_srcunit_tex.sum") -
                                   prediction.counters.at("lts__t_sectors_srcunit_tex_op_read.sum");
            CHECK(written == kTiles * kSectorsOfTile);
            CHECK(prediction.counters.at("lrc__request_sectors_op_read_coalescable.sum") ==
                  kTiles * kSectorsOfTile);
        }
    }
}

TEST_CASE("A kernel none of whose tiles has a step is refused") {
    const TemporaryFile file(".lua", kTriangle);
    CHECK_THROWS_WITH(load_kernel(file.path(), {"from=24"}), ContainsSubstring("no tile has a step"));
}
