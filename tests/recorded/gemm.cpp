// SPDX-License-Identifier: Apache-2.0
// A handful of the rows of traces/h200/gemm.csv, predicted from kernel to counters with one lane in 16. The
// tolerances are what the model reaches on these rows, not what it aims at; `l2lens validate --recorded`
// judges all rows.
#include <algorithm>
#include <string>
#include <vector>

#include "load/kernel_file.hpp"
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
    test::Cells cells;
    double fill, fabric, hit_rate, time;
};

test::Cells cells_of(const std::string& order, const std::string& mode, const std::string& size = "8192",
                     const std::string& bm = "128", const std::string& bn = "128") {
    return {{"m", size}, {"n", size},  {"k", size},      {"bm", bm},
            {"bn", bn},  {"bk", "64"}, {"order", order}, {"mode", mode}};
}

// What six seeds of the model reach at worst, and a fifth or a point more. The GPU's own repeats differ by up
// to 4 % in fills, 5 in fabric sectors, 5 points of hit rate and 1 % of time (traces/h200/README.md).
const std::vector<Wanted>& wanted_rows() {
    static const std::vector<Wanted> rows{
        {cells_of("row_major", "grid"), 3.1, 3.1, 1.9, 2.7},
        {cells_of("column_major", "grid"), 1, 5.5, 2.2, 3.7},
        {cells_of("group_m:8", "grid"), 1.3, 14.5, 1.7, 2.5},
        {cells_of("group_m:16", "grid"), 1, 3.9, 2.1, 2.3},
        {cells_of("hilbert", "grid"), 2.2, 4.3, 2.4, 2.1},
        {cells_of("group_m:8", "static"), 1.7, 3.9, 2.3, 1.8},
        {cells_of("hilbert", "grid", "4096"), 11, 7.6, 4.5, 2.9},
        {cells_of("group_m:8", "grid", "8192", "64", "64"), 3, 5.7, 1.6, 2.5},
    };
    return rows;
}

Prediction predict_row(const test::RecordedCells& row, const Machine& machine) {
    PredictOptions options;
    options.sample = 16;
    return test::predict_row(row,
                             {"dtype", "layout", "m", "n", "k", "bm", "bn", "bk", "stages", "warps", "mode"},
                             machine, options);
}

double percent_off(const Prediction& prediction, const test::RecordedCells& row, const std::string& counter) {
    return 100 * (prediction.counters.at(counter) / row[counter] - 1);
}

}  // namespace

TEST_CASE("Recorded GEMM launches are predicted within what the model reaches") {
    const Machine machine = load_machine("h200");
    // Sanitized, the smallest row stands for all: the others take ten times as long.
    std::vector<Wanted> rows = wanted_rows();
    if (test::kSanitized) rows = {rows[6]};
    std::vector<test::RecordedCells> recorded;
    for (const Wanted& row : rows) recorded.push_back(test::recorded_rows("gemm.csv", row.cells).front());
    std::vector<Prediction> predictions(rows.size());
    TbbExecutor executor;
    executor.for_each(rows.size(),
                      [&](std::size_t i) { predictions[i] = predict_row(recorded[i], machine); });

    for (std::size_t i = 0; i < rows.size(); ++i) {
        const test::RecordedCells& row = recorded[i];
        const Prediction& p = predictions[i];
        INFO(row.text("m") << "^3, tile " << row.text("bm") << "x" << row.text("bn") << "x" << row.text("bk")
                           << ", " << row.text("order") << ", " << row.text("mode"));
        CHECK(percent_off(p, row, "lrc__request_sectors_op_read_coalescable.sum") == Approx(0).margin(0.1));
        CHECK(percent_off(p, row, "lts__d_sectors_fill_device.sum") == Approx(0).margin(rows[i].fill));
        CHECK(percent_off(p, row, "lts__t_sectors_srcunit_ltcfabric.sum") ==
              Approx(0).margin(rows[i].fabric));
        CHECK(p.counters.at("lts__t_sector_hit_rate.pct") - row["lts__t_sector_hit_rate.pct"] ==
              Approx(0).margin(rows[i].hit_rate));
        CHECK(percent_off(p, row, "gpu__time_duration.sum") == Approx(0).margin(rows[i].time));
        CHECK(p.ctas_per_sm == (row.text("mode") == "grid" ? static_cast<int>(row["ctas_per_sm"]) : 1));
    }
}

TEST_CASE("A loop that waits for its MMAs loads when two warpgroups have met behind theirs") {
    // Two warpgroups of a 128 x bn x 64 tile issue four MMAs of 64 x bn x 16 each. What a loop takes besides,
    // 60 cycles, stands in the kernel file; of a loop that waits the model counts from the end of the math.
    const Machine machine = load_machine("h200");
    for (const std::string n : {"128", "256"}) {
        const auto step = test::recorded_rows("mma_pair.csv", {{"n", n}, {"mmas", "4"}}).front();
        const auto kernel_of = [&](const std::string& mode) {
            return load_kernel("gemm", {"bn=" + n, "warps=8", "stages=3", "mode=" + mode}, &machine);
        };
        CHECK(kernel_of("grid").waits_for_math());
        CHECK(kernel_of("grid").release_cycles ==
              Approx(60 + step["joined"] - step["math_cycles"]).margin(10));
        CHECK(!kernel_of("static").waits_for_math());
        CHECK(kernel_of("static").release_cycles == 60);
    }
}

TEST_CASE("The producer of large tiles takes as long to ask for a step's boxes as one without math does") {
    // Boxes of 64 elements at most along an operand's inner axis: of a 128 x 128 x 64 tile one of A and one
    // of B, which is K-major, or two. Short ones, so that it is not their lines that take the time.
    const Machine machine = load_machine("h200");
    const auto interval = [&](const std::string& layout, const std::string& pipeline) {
        return load_kernel("gemm", {"layout=" + layout, "pipeline=" + pipeline}, &machine)
            .load_interval_cycles;
    };
    const auto step = [](const std::string& boxes) {
        const test::Cells cells{{"ctas", "1"}, {"boxes", boxes}, {"rows_a", "8"}};
        return test::recorded_rows("producer.csv", cells).front()["step"];
    };
    CHECK(interval("tn", "warp_specialized") == Approx(step("2")).epsilon(0.02));
    CHECK(interval("nt", "warp_specialized") == Approx(step("4")).epsilon(0.02));
    CHECK(interval("tt", "warp_specialized") == Approx((step("2") + step("4")) / 2).epsilon(0.02));
    CHECK(interval("tn", "multistage") == 0);
}

TEST_CASE("A loop that waits for its MMAs does not load while it computes, with two stages") {
    // 128 x 256 tiles of eight warps in a grid launch: a step takes 2400 cycles with two stages, 1430 with
    // three, 1024 of math. Loads that left when the MMAs are handed over took 30 % off the first launch's
    // time, and found 10 % too little missing in the second.
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    const test::Cells two{{"m", "8320"}, {"n", "10752"}, {"k", "1536"}, {"bn", "256"}, {"stages", "2"}};
    const auto two_stages = test::recorded_rows("gemm_more.csv", two).front();
    CHECK(std::abs(percent_off(predict_row(two_stages, machine), two_stages, "gpu__time_duration.sum")) <= 7);

    const auto three_stages =
        test::recorded_rows("gemm.csv", cells_of("row_major", "grid", "8192", "128", "256")).front();
    CHECK(three_stages.text("stages") == "3");
    CHECK(std::abs(percent_off(predict_row(three_stages, machine), three_stages,
                               "lts__t_sectors_srcunit_tex_lookup_miss.sum")) <= 5);  // seen: 4.2
}

TEST_CASE("The order that the GPU runs in two ways stays the worst by far") {
    // CTAs of diagonal keep together or fall apart: one reading took 3.3 ms, another 3.8. In the model they
    // fall apart: six seeds fill 0.8 to 4.5 % more, and take 6 to 9 % longer.
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    const auto row = test::recorded_rows("gemm.csv", cells_of("diagonal", "grid")).front();
    const Prediction p = predict_row(row, machine);
    CHECK(std::abs(percent_off(p, row, "lrc__request_sectors_op_read_coalescable.sum")) <= 0.1);
    CHECK(std::abs(percent_off(p, row, "lts__d_sectors_fill_device.sum")) <= 5);
    CHECK(std::abs(percent_off(p, row, "gpu__time_duration.sum")) <= 11);
}

TEST_CASE("Predicted fills rank the recorded orders as the hardware does") {
    // Four orders that the hardware sets apart by 1.4 times and more: 54.6, 77.5, 136 and 498 M sectors.
    const Machine machine = load_machine("h200");
    const std::vector<std::string> orders{"group_m:8", "group_m:32", "row_major", "diagonal"};
    if (test::left_to_plain_builds()) return;
    std::vector<double> measured(orders.size()), predicted(orders.size());
    TbbExecutor executor;
    executor.for_each(orders.size(), [&](std::size_t i) {
        const auto row = test::recorded_rows("gemm.csv", cells_of(orders[i], "grid")).front();
        measured[i] = row["lts__d_sectors_fill_device.sum"];
        predicted[i] = predict_row(row, machine).counters.at("lts__d_sectors_fill_device.sum");
    });
    CHECK(std::is_sorted(measured.begin(), measured.end()));
    CHECK(std::is_sorted(predicted.begin(), predicted.end()));
}
