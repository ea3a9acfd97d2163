// SPDX-License-Identifier: Apache-2.0
// Does a box ask for as many requests and sectors as TMA sends, however its rows lie to sectors and lines?
// GEMMs with both operands K-major, of pitches that are no multiple of 128 B (traces/h200/gemm_more.csv).
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "kernel/box_lines.hpp"
#include "load/kernel_file.hpp"
#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/predict_row.hpp"
#include "support/recorded.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

struct Asked {
    double requests = 0;
    double sectors = 0;
};

// For all boxes of a K-major operand of bf16 once. TMA asks for whole boxes, whatever of them sticks out of
// the matrix (sectors are equal to four digits so); the model asks for what lies in it.
Asked whole_operand(std::int64_t rows, std::int64_t k, std::int64_t bk) {
    Tensor tensor;
    tensor.rank = 2;
    tensor.shape = {rows, ceil_div(k, bk) * bk};
    tensor.element_bytes = 2;
    tensor.stride_bytes = {2 * k, 2};
    BoxWalk box;
    box.extent = {rows, bk};
    box.step = {0, bk};
    Asked asked;
    for (std::int64_t step = 0; step * bk < k; ++step) {
        for_each_line(tensor, box, step, [&](const LineRequest& request) {
            asked.requests += 1;
            asked.sectors += __builtin_popcount(request.sectors);
        });
    }
    return asked;
}

// The share of the sectors asked for that were merged.
double merged(const test::RecordedCells& row) {
    return 1 - row["lts__t_sectors_srcunit_tex_op_read.sum"] /
                   row["lrc__request_sectors_op_read_coalescable.sum"];
}

double predicted_merged(const test::RecordedCells& row, const Machine& machine) {
    PredictOptions options;
    options.sample = 16;
    const Prediction prediction =
        test::predict_row(row, {"m", "n", "k", "bm", "bn", "stages", "pipeline", "mode"}, machine, options);
    return 1 - prediction.counters.at("lts__t_sectors_srcunit_tex_op_read.sum") /
                   prediction.counters.at("lrc__request_sectors_op_read_coalescable.sum");
}

}  // namespace

TEST_CASE("Rows off the line and off the sector ask for what TMA sends") {
    int rows_off_sector = 0, rows_off_line = 0;
    for (const auto& row :
         test::recorded_rows("gemm_more.csv", {{"split", "fit"}, {"layout", "tn"}, {"repeat", "0"}})) {
        const auto number = [&](const char* column) { return static_cast<std::int64_t>(row[column]); };
        const std::int64_t m = number("m"), n = number("n"), k = number("k");
        if (2 * k % kLineBytes == 0) continue;
        const auto tiles_m = static_cast<double>(ceil_div(m, number("bm")));
        const auto tiles_n = static_cast<double>(ceil_div(n, number("bn")));
        const Asked a = whole_operand(ceil_div(m, number("bm")) * number("bm"), k, number("bk"));
        const Asked b = whole_operand(ceil_div(n, number("bn")) * number("bn"), k, number("bk"));
        INFO(m << " x " << n << " x " << k << ", " << row.text("bm") << " x " << row.text("bn") << " x "
               << row.text("bk"));
        const double requests = a.requests * tiles_n + b.requests * tiles_m;
        const double sectors = a.sectors * tiles_n + b.sectors * tiles_m;
        // The parts that stick out go in fewer requests than the others: 3 % fewer in all where they are a
        // tenth.
        CHECK(row["lrc__xbar2lrc_requests_op_read.sum"] / requests == Approx(1).margin(0.04));
        CHECK(row["lrc__request_sectors_op_read_coalescable.sum"] / sectors == Approx(1).margin(0.005));
        ++(2 * k % kSectorBytes == 0 ? rows_off_line : rows_off_sector);
    }
    CHECK(rows_off_sector >= 8);
    CHECK(rows_off_line >= 8);
}

// A pitch 16 B beyond a multiple of 32 takes two thirds of the merging, one of 32 B takes next to nothing.
TEST_CASE("Rows that begin inside a sector are not merged") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    for (const char* k : {"4096", "4104", "4112"}) {
        const auto row =
            test::recorded_rows("pitches.csv", {{"m", "6144"}, {"k", k}, {"order", "group_m:8"}}).front();
        INFO("k = " << k);
        CHECK(predicted_merged(row, machine) == Approx(merged(row)).margin(0.05));
    }
}
