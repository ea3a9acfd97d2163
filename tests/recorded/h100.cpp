// SPDX-License-Identifier: Apache-2.0
// Does what was learned on an H200 carry over to an H100 (traces/h100/gemm.csv)? The same mechanisms, 80
// slices in place of 94, another hash and memory; nothing was fitted to these rows. The tolerances are what
// the model reaches. `l2lens validate --recorded traces/h100/gemm.csv --gpu h100-sxm` judges all rows, those
// too that are further off: 12288 x 12288 x 4096, static, in row_major and column_major fills 46 to 48 % too
// little from DRAM (docs/fidelity.md).
#include <cmath>
#include <string>
#include <vector>

#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/predict_row.hpp"
#include "support/recorded.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

// A row by what identifies it, and how far the prediction may be off: percent, and points of hit rate.
struct Wanted {
    std::string mode, order, size;
    double fill, fabric, hit_rate, time;
};

// What three times four seeds reach at worst, and a fifth or a point more.
const std::vector<Wanted> kWanted{
    {"grid", "group_m:8", "8192", 1.9, 9.5, 1.3, 1.6},
    {"grid", "serpentine_m:12", "8192", 6.8, 12.0, 2.1, 3.1},
    {"grid", "hilbert", "8192", 5.8, 9.5, 4.1, 4.4},
    {"static", "group_m:8", "8192", 2.1, 4.7, 1.2, 1.5},
    {"grid", "row_major", "4096", 1, 2.6, 2, 1.9},
    {"grid", "hilbert", "4096", 2.6, 2.5, 1.3, 1.8},
};

Prediction predict_row(const test::RecordedCells& row, const Machine& machine) {
    PredictOptions options;
    options.sample = 16;
    options.seeds = 4;
    return test::predict_row(row, {"m", "n", "k", "bm", "bn", "bk", "stages", "warps", "pipeline", "mode"},
                             machine, options);
}

}  // namespace

TEST_CASE("Launches recorded on an H100 are predicted without a parameter of their own") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h100-sxm");
    std::vector<test::RecordedCells> recorded;
    for (const Wanted& row : kWanted) {
        const test::Cells cells{{"m", row.size},    {"n", row.size},      {"k", row.size},
                                {"mode", row.mode}, {"order", row.order}, {"bn", "128"}};
        recorded.push_back(test::recorded_rows("gemm.csv", cells, "h100").front());
    }
    std::vector<Prediction> predictions(recorded.size());
    TbbExecutor executor;
    executor.for_each(recorded.size(),
                      [&](std::size_t i) { predictions[i] = predict_row(recorded[i], machine); });
    for (std::size_t i = 0; i < recorded.size(); ++i) {
        const auto percent_off = [&](const std::string& counter) {
            return 100 * (predictions[i].counters.at(counter) / recorded[i][counter] - 1);
        };
        const std::string hit_rate = "lts__t_sector_hit_rate.pct";
        INFO(kWanted[i].size << "^3, " << kWanted[i].order << ", " << kWanted[i].mode);
        CHECK(std::abs(percent_off("lts__d_sectors_fill_device.sum")) <= kWanted[i].fill);
        CHECK(std::abs(percent_off("lts__t_sectors_srcunit_ltcfabric.sum")) <= kWanted[i].fabric);
        CHECK(std::abs(predictions[i].counters.at(hit_rate) - recorded[i][hit_rate]) <= kWanted[i].hit_rate);
        CHECK(std::abs(percent_off("gpu__time_duration.sum")) <= kWanted[i].time);
    }
}
