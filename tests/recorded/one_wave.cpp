// SPDX-License-Identifier: Apache-2.0
// Do the CTAs of a GPC that share a row of A, and nothing else, keep together while they read from DRAM? One
// wave of the warp-specialized GEMM of gpu/kernels in row_major (traces/h200/one_wave.csv). When near lines
// also waited as long as far ones do for a slice's output, they did not: five stages merged 0.23.
#include <string>
#include <vector>

#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/predict_row.hpp"
#include "support/recorded.hpp"

using namespace l2lens;

namespace {

constexpr const char* kSectors = "lts__t_sectors_srcunit_tex.sum";
constexpr const char* kTime = "gpu__time_duration.sum";

double mean(const std::vector<test::RecordedCells>& rows, const char* counter) {
    double sum = 0;
    for (const auto& row : rows) sum += row[counter];
    return sum / static_cast<double>(rows.size());
}

// Of what tiles of 128 x 128 ask for.
double merged(const test::RecordedCells& row, double sectors) {
    const double tiles = row["m"] * row["n"] / (128 * 128);
    return 1 - sectors / (tiles * row["k"] / 64 * 2 * 128 * 4);
}

}  // namespace

// With six stages they part in the model alone, on its GPCs of 18 SMs (docs/fidelity.md).
TEST_CASE("CTAs of a GPC that share a row of A merge as on the GPU while they wait for DRAM") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    for (const std::string stages : {"4", "5"}) {
        INFO(stages << " stages");
        const std::vector<test::RecordedCells> rows =
            test::recorded_rows("one_wave.csv", {{"m", "1024"}, {"stages", stages}, {"order", "row_major"}});
        REQUIRE(rows.size() == 3);
        PredictOptions options;
        options.seeds = 4;
        const Prediction predicted = test::predict_row(
            rows.front(), {"m", "n", "k", "bm", "bn", "stages", "pipeline", "mode"}, machine, options);
        const double counted = merged(rows.front(), mean(rows, kSectors));
        CHECK(merged(rows.front(), predicted.counters.at(kSectors)) ==
              Approx(counted).margin(0.06));  // seen: 0.29 for 0.24
        CHECK(predicted.counters.at(kTime) == Approx(mean(rows, kTime)).epsilon(0.09));  // seen: 8.6 %
    }
}
