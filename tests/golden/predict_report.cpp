// SPDX-License-Identifier: Apache-2.0
#include "report/predict_report.hpp"

#include "report/advice.hpp"
#include "report/csv.hpp"
#include "report/recorded_csv.hpp"

#include "approve.hpp"
#include "sample_report.hpp"

using namespace l2lens;
using namespace l2lens::golden;

namespace {

// group_m:4 is best; row_major reads B (2 MiB = 2097152 bytes) four times and A once: once a wave of the
// four.
const std::vector<Prediction> kThree{
    prediction("row_major", 130, 50, 5 * 2097152.0, 2, 8),
    prediction("lua: return pid // tn,\n  pid % tn", 150, 40, 6 * 2097152.0, 2, 8),
    prediction("group_m:4", 100, 75, 2 * 2097152.0, 4, 4)};

}  // namespace

TEST_CASE("The table is ranked by time and ends in one line of advice") {
    const Kernel kernel = small_gemm();
    const Machine machine = small_machine();
    const PredictReport report{machine, kernel, kThree, fixed_meta()};
    check_approved("predict.txt", predict_text(report, false));
    check_approved("predict_colour.txt", predict_text(report, true));
}

TEST_CASE("The JSON keeps the order of the list and carries the rank") {
    const Kernel kernel = small_gemm();
    const Machine machine = small_machine();
    check_approved("predict.json", predict_json({machine, kernel, kThree, fixed_meta()}));
}

TEST_CASE("The CSV has the columns of the recorded ones and reads back") {
    const Kernel kernel = small_gemm();
    const Machine machine = small_machine();
    const std::string csv = predict_csv({machine, kernel, kThree, fixed_meta()});
    check_approved("predict.csv", csv);

    const auto rows = read_recorded_csv(csv, "predict.csv", [](const std::string&) {
        return std::vector<std::string>{"dtype", "m", "n", "k"};
    });
    REQUIRE(rows.size() == 3);
    CHECK(rows[1].order == kThree[1].order);  // quotes, comma and newline survive
    CHECK(rows[2].measured.at("lts__d_sectors_fill_device.sum") == 131072);
    CHECK(rows[2].measured.count("dram__bytes_read.sum") == 0);  // not known, so absent
    CHECK(rows[0].ctas_per_sm == 1);
}

TEST_CASE("Advice names the footprint and how often an operand comes from DRAM") {
    // A wave of 16 tiles with 4 rows and 4 columns reads 8 x 128 x 1024 x 2 B = 2 MiB; 2 + 8 lines are 2.5
    // MiB.
    const Kernel kernel = small_gemm();
    const Machine machine = small_machine();
    CHECK(advice({machine, kernel, kThree, {}}) ==
          "group_m:4: a wave of 16 tiles shares 4 rows of A and 4 columns of B (2 MiB); row_major needs 2 + "
          "8 (2.5 MiB), "
          "so B comes from DRAM once a wave: 4 times.");
}

TEST_CASE("Advice compares with the slowest order when row_major is as good as the best") {
    const Kernel kernel = small_gemm();
    const Machine machine = small_machine();
    const std::vector<Prediction> orders{prediction("row_major", 101, 50, 4.5 * 2097152.0, 2, 8),
                                         prediction("diagonal", 300, 10, 12 * 2097152.0, 8, 8),
                                         prediction("hilbert", 100, 75, 2 * 2097152.0, 4, 4)};
    CHECK_THAT(advice({machine, kernel, orders, {}}),
               ContainsSubstring("; diagonal needs 8 + 8 (4 MiB), so"));
    CHECK_THAT(advice({machine, kernel, orders, {}}), ContainsSubstring("from DRAM 11 times."));
}

TEST_CASE("Advice speaks of the traffic when footprints do not tell the orders apart") {
    const Kernel kernel = small_gemm();
    const Machine machine = small_machine();
    const std::vector<Prediction> orders{prediction("hilbert", 100, 75, 2e6, 4, 4),
                                         prediction("morton", 125, 60, 4e6, 4, 4)};
    CHECK(advice({machine, kernel, orders, {}}) ==
          "hilbert is 20.0 % faster than morton: DRAM reads 2.00 MB against 4.00 MB, merged 25.0 % against "
          "25.0 %, fabric "
          "12.5 % against 12.5 %.");
}

TEST_CASE("Advice gives a wider footprint as a reason only for what follows from it") {
    // row_major's wave has 2 + 8 lines where morton's has 4 + 4, but it reads A and B once, as morton does,
    // and looks up as many sectors: what makes it slower is something else.
    const Kernel kernel = small_gemm();
    const Machine machine = small_machine();
    std::vector<Prediction> orders{prediction("morton", 100, 75, 2 * 2097152.0, 4, 4),
                                   prediction("row_major", 125, 75, 2 * 2097152.0, 2, 8)};
    CHECK_THAT(advice({machine, kernel, orders, {}}),
               ContainsSubstring("morton is 20.0 % faster than row_major: DRAM reads"));
    for (auto& [id, value] : orders[1].metrics) {
        if (id == "l2_sectors") value *= 2;
    }
    CHECK_THAT(advice({machine, kernel, orders, {}}),
               ContainsSubstring("so it looks up 2.00 M sectors instead of 1.00 M"));
}

TEST_CASE("Advice says that the order does not matter, and why") {
    const Kernel kernel = small_gemm();
    Machine machine = small_machine();
    const std::vector<Prediction> orders{prediction("row_major", 101, 75, 5e6, 2, 8),
                                         prediction("hilbert", 100, 75, 4e6, 4, 4)};
    // 5e6 bytes at 100 B/ns take 50 us of 101.
    CHECK(advice({machine, kernel, orders, {}}) ==
          "The order does not matter: all 2 are within 1.0 %, and reading at most 5.00 MB from DRAM takes "
          "49.5 % of the "
          "time.");
    machine.l2.slice_bytes *= 4;
    CHECK(advice({machine, kernel, orders, {}}) ==
          "The inputs (4 MiB) fit the L2 (4 MiB in each partition): the order does not matter, all 2 are "
          "within 1.0 %.");
}

TEST_CASE("One order alone is described") {
    const Kernel kernel = small_gemm();
    const Machine machine = small_machine();
    CHECK(
        advice({machine, kernel, std::span(kThree).first(1), {}}) ==
        "row_major: a wave of 16 tiles shares 2 rows of A and 8 columns of B (2.5 MiB); the L2 holds 2 MiB.");
}
