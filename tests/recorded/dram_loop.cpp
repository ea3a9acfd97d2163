// SPDX-License-Identifier: Apache-2.0
// What do launches miss and fetch whose CTAs stream one operand alone and share the other one? One wave of
// the warp-specialized GEMM of gpu/kernels with a short edge (traces/h200/dram_loop.csv). Their times are not
// tested: the model's steps are up to 21 % long (docs/fidelity.md).
#include <cstddef>
#include <map>
#include <string>

#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/predict_row.hpp"
#include "support/recorded.hpp"

using namespace l2lens;

namespace {

constexpr const char* kMisses = "lts__t_sectors_srcunit_tex_lookup_miss.sum";
constexpr const char* kFabric = "lts__t_sectors_srcunit_ltcfabric.sum";
constexpr const char* kFills = "lts__d_sectors_fill_device.sum";

std::map<std::string, double> predicted(const test::RecordedCells& row, const Machine& machine) {
    PredictOptions options;
    options.sample = 1;  // few of a lone CTA's sectors are not its operands'
    return test::predict_row(row, {"m", "n", "k", "bm", "bn", "stages", "cluster_m", "pipeline"}, machine,
                             options)
        .counters;
}

}  // namespace

TEST_CASE("What streams past a shared operand misses once, whatever merges on the way") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    std::size_t rows = 0;
    for (const auto& row : test::recorded_rows("dram_loop.csv", {{"k", "8192"}, {"stages", "3"}})) {
        INFO(row["m"] << " x " << row["n"] << ", clusters of " << row["cluster_m"]);
        const std::map<std::string, double> counters = predicted(row, machine);
        CHECK(counters.at(kFills) == Approx(row[kFills]).epsilon(0.01));
        CHECK(counters.at(kMisses) == Approx(row[kMisses]).epsilon(0.03));
        CHECK(counters.at(kFabric) == Approx(row[kFabric]).epsilon(0.01));
        ++rows;
    }
    CHECK(rows == 10);
}
