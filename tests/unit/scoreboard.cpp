// SPDX-License-Identifier: Apache-2.0
// The figures of the scoreboard on tables small enough to work out by hand: the noise of repeats, the ranking
// and its naive rivals, the simpler models, the causes of errors.
#include <cmath>

#include "report/validation.hpp"
#include "report/validation_report.hpp"
#include "support/catch.hpp"

using namespace l2lens;

namespace {

constexpr const char* kFill = "lts__d_sectors_fill_device.sum";
constexpr const char* kHitRate = "lts__t_sector_hit_rate.pct";
constexpr const char* kTime = "gpu__time_duration.sum";

std::vector<RecordedRow> read(const std::string& text) {
    return read_recorded_csv(text, "x.csv", [](const std::string&) {
        return std::vector<std::string>{"m", "n"};
    });
}

// A row of one group: an order, its measured time and fill, and what is predicted of both.
ValidationRow row_of(const std::string& order, double time, double fill, double predicted_time,
                     double predicted_fill) {
    ValidationRow row;
    row.recorded.kernel = "gemm";
    row.recorded.order = order;
    row.recorded.measured = {{kTime, time}, {kFill, fill}};
    row.predicted = {{kTime, predicted_time}, {kFill, predicted_fill}};
    return row;
}

}  // namespace

TEST_CASE("Kendall's tau leaves out pairs that measurement does not tell apart") {
    // Measured 100 and 100.5 differ by 0.5 %: that pair is out, although it is predicted the other way round.
    // Of the other two, (100, 102) is as predicted, and so is (100.5, 102).
    const std::vector<double> measured{100, 100.5, 102}, predicted{11, 10, 12};
    CHECK(kendall_tau_apart(predicted, measured, 0.01).value() == Approx(1));
    CHECK(kendall_tau_apart(predicted, measured, 0).value() == Approx(1.0 / 3));
    // Exactly 1 % counts.
    CHECK(kendall_tau_apart(std::vector<double>{2, 1}, std::vector<double>{100, 101}, 0.01).value() == -1);
    // A tie in what is predicted: one concordant pair over sqrt(1 * 2).
    CHECK(
        kendall_tau_apart(std::vector<double>{1, 1, 2}, std::vector<double>{100, 200, 200.5}, 0.01).value() ==
        Approx(1 / std::sqrt(2.0)));
    // All predictions tied: nothing is said about the order. No pair apart: there is no order to speak of.
    CHECK(kendall_tau_apart(std::vector<double>{1, 1}, std::vector<double>{100, 200}, 0.01).value() == 0);
    CHECK_FALSE(kendall_tau_apart(predicted, std::vector<double>{100, 100.4, 100.8}, 0.01).has_value());
    // What is not known is left out.
    CHECK(kendall_tau_apart(std::vector<double>{1, kUnknown, 2}, std::vector<double>{100, 150, 200}, 0.01)
              .value() == 1);
}

TEST_CASE("Noise is the deviation of readings from their own configuration's mean") {
    // m=1: 90 and 110 deviate by 10 % each. m=2: 99, 100, 101 by 1, 0 and 1 %. Sorted 0 1 1 10 10: the median
    // is 1, position 0.9 * 4 = 3.6 lies between two tens. m=3 was read once, random orders may differ.
    const auto noise =
        repeat_noise(read("kernel,m,order,repeat,split,lts__t_sectors.sum,lts__t_sector_hit_rate.pct\n"
                          "gemm,1,hilbert,0,fit,90,50\n"
                          "gemm,1,hilbert,1,fit,110,52\n"
                          "gemm,2,hilbert,0,fit,99,\n"
                          "gemm,2,hilbert,1,test,100,\n"
                          "gemm,2,hilbert,2,fit,101,\n"
                          "gemm,3,hilbert,0,fit,500,90\n"
                          "gemm,4,random,0,fit,1,1\n"
                          "gemm,4,random,1,fit,100,99\n"));
    const NoiseStats& sectors = noise.at("lts__t_sectors.sum");
    CHECK(sectors.readings == 5);
    CHECK(sectors.configurations == 2);
    CHECK(sectors.median_abs == Approx(1));
    CHECK(sectors.p90_abs == Approx(10));
    const NoiseStats& hit_rate = noise.at(kHitRate);
    CHECK(hit_rate.readings == 2);
    CHECK(hit_rate.p90_abs == Approx(1));  // points
    CHECK(noise.count(kTime) == 0);
}

TEST_CASE("The noise of counts that hardly occur is not looked at") {
    const std::string head =
        "kernel,m,order,lts__t_sectors.sum,lts__t_sectors_lookup_miss_data_promoted.sum\n";
    CHECK(repeat_noise(read(head + "gemm,1,hilbert,1000000,10\ngemm,1,hilbert,1000000,60\n"))
              .count("lts__t_sectors_lookup_miss_data_promoted.sum") == 0);
    CHECK(repeat_noise(read(head + "gemm,1,hilbert,1000000,10000\ngemm,1,hilbert,1000000,60000\n"))
              .count("lts__t_sectors_lookup_miss_data_promoted.sum") == 1);
}

TEST_CASE("The noise of DRAM writes is that of rows that write a tenth of their output or more") {
    // 1500 sectors looked up for writes are an output of 1000 on two partitions: 100 is a tenth of it.
    const std::string head = "kernel,m,order,lts__t_sectors_op_write.sum,dram__sectors_write.sum\n";
    CHECK(repeat_noise(read(head + "gemm,1,hilbert,1500,80\ngemm,1,hilbert,1500,118\n"))
              .count("dram__sectors_write.sum") == 0);
    const auto noise = repeat_noise(read(head + "gemm,1,hilbert,1500,80\ngemm,1,hilbert,1500,120\n"));
    CHECK(noise.at("dram__sectors_write.sum").median_abs == Approx(20));
}

TEST_CASE("Pickers are judged by how much slower their orders ran") {
    // Five orders; hilbert is fastest. Predicted best is group_m:32, 3 % slower; the least predicted fill has
    // row_major, 20 % slower; group_m:8 is as far from 16 as group_m:32 and narrower, 0.5 % slower.
    // Pairs 1 % apart or more: all but (group_m:8, hilbert) of the four, and all with diagonal: 9 of 10.
    // Against the prediction: (group_m:8, group_m:32) and (hilbert, group_m:32), so tau = (7 - 2) / 9.
    const std::vector<ValidationRow> rows{
        row_of("group_m:8", 100.5, 50, 95, 52), row_of("group_m:32", 103, 60, 90, 61),
        row_of("hilbert", 100, 55, 96, 54), row_of("row_major", 120, 90, 130, 51),
        row_of("diagonal", 300, 400, 250, 390)};
    const RankingStats ranking = ranking_stats(rows);
    CHECK(ranking.groups == 1);
    CHECK(ranking.groups_of_5 == 1);
    CHECK(ranking.kendall_tau_time.value() == Approx(5.0 / 9));
    CHECK(ranking.predicted_best.mean_pct == Approx(3));
    CHECK(ranking.predicted_best.max_pct == Approx(3));
    CHECK(ranking.least_predicted_fill.mean_pct == Approx(20));
    CHECK(ranking.always_group_m_16.mean_pct == Approx(0.5));
    CHECK(ranking.always_group_m_16.groups == 1);
    // By fill all pairs are apart; row_major, predicted least, is measured above three others: 7 of 10 as
    // predicted.
    CHECK(ranking.kendall_tau_dram.value() == Approx(4.0 / 10));
}

TEST_CASE("Ranking figures are means over the groups, and small groups are counted apart") {
    std::vector<ValidationRow> rows{row_of("hilbert", 100, 5, 10, 5), row_of("group_m:4", 110, 6, 9, 6)};
    for (const char* order : {"hilbert", "row_major"}) {
        rows.push_back(row_of(order, order[0] == 'h' ? 200 : 201, 5, 10, 5));
        rows.back().recorded.params = {{"m", "1"}};
    }
    rows.push_back(row_of("hilbert", 1, 1, 1, 1));
    rows.back().recorded.mode = Mode::Static;  // alone
    const RankingStats ranking = ranking_stats(rows);
    CHECK(ranking.groups == 2);
    CHECK(ranking.groups_of_5 == 0);
    CHECK(ranking.groups_in_tau == 1);  // 200 and 201 are not told apart
    CHECK(ranking.kendall_tau_time.value() == Approx(-1));
    CHECK(ranking.predicted_best.mean_pct == Approx(5));  // 10 % and 0: the first of two that tie
    CHECK(ranking.predicted_best.max_pct == Approx(10));
    CHECK(ranking.always_group_m_16.groups == 1);  // nothing like group_m in the second
}

TEST_CASE("Where no pair of orders is told apart, nothing is said of their ranking") {
    // The times differ by 10 %, the fills by 0.5 %.
    const std::vector<ValidationRow> fills_tied{row_of("hilbert", 100, 200, 10, 5),
                                                row_of("group_m:4", 110, 201, 11, 6)};
    const RankingStats ranking = ranking_stats(fills_tied);
    CHECK(ranking.groups_in_tau == 1);
    CHECK(ranking.kendall_tau_time.value() == Approx(1));
    CHECK(ranking.groups_in_tau_dram == 0);
    CHECK_FALSE(ranking.kendall_tau_dram.has_value());
    CHECK_FALSE(ranking_stats({}).kendall_tau_time.has_value());

    const ValidationPlan plan{fills_tied, 3, 0, 0};
    const ValidationSummary summary = summarise(plan.rows);
    const Tolerances none;
    const ValidationReport report{plan, summary, none, "h200", {}};
    const std::string text = validation_text(report, false);
    CHECK_THAT(text, ContainsSubstring("Kendall tau 1.00 by time, - by DRAM fill"));
    const std::string json = validation_json(report);
    CHECK_THAT(json, ContainsSubstring("\"kendall_tau_time\": 1,"));
    CHECK_THAT(json, ContainsSubstring("\"kendall_tau_dram\": null,"));
    CHECK_THAT(text, ContainsSubstring("2 configurations on h200, from 3 recorded rows"));
}

TEST_CASE("One row is no rows") {
    const ValidationPlan plan{{row_of("hilbert", 100, 200, 10, 5)}, 1, 0, 0};
    const ValidationSummary summary = summarise(plan.rows);
    CHECK_THAT(validation_text({plan, summary, {}, "h200", {}}, false),
               ContainsSubstring("1 configuration on h200, from 1 recorded row\n"));
}

TEST_CASE("The order nearest to group_m:16") {
    using Orders = std::vector<std::string>;
    CHECK(nearest_to_group_m_16(Orders{"hilbert", "group_m:4", "group_m:16"}) == 2);
    CHECK(nearest_to_group_m_16(Orders{"group_m:24", "group_m:8"}) == 0);  // 1.5 times against twice
    CHECK(nearest_to_group_m_16(Orders{"group_m:32", "group_m:8"}) == 1);  // as far, and narrower
    CHECK(nearest_to_group_m_16(Orders{"serpentine_m:16", "group_m:2"}) == 1);
    CHECK(nearest_to_group_m_16(Orders{"group_n:16", "serpentine_m:2"}) == 1);
    CHECK(nearest_to_group_m_16(Orders{"hilbert", "serpentine_n:2", "group_n:2"}) == 2);
    CHECK_FALSE(nearest_to_group_m_16(Orders{"hilbert", "row_major", "group_m:x"}).has_value());
}

TEST_CASE("Simpler models are held to the same rows") {
    // The flat LRU says 80 % of 1000 sectors hit: 200 come from DRAM. Measured 60 % and 160.
    ValidationRow row = row_of("hilbert", 1, 160, 1, 165);
    row.recorded.measured[kHitRate] = 60;
    row.predicted["lrc__request_sectors_op_read_coalescable.sum"] = 1000;
    row.metrics = {{"flat_lru_hit_rate_pct", 80}};
    const SimpleModelErrors errors = simple_model_errors(std::vector{row});
    CHECK(errors.at("flat_lru").at(kHitRate).bias == Approx(20));
    CHECK(errors.at("flat_lru").at(kFill).bias == Approx(25));
    CHECK(errors.count("closed_form") == 0);
}

TEST_CASE("An error is split in what the schedule and what the memory does to it") {
    // Predicted 130 for 100 measured; 112 under the recorded schedule. 12 of the 30 % stay then, 18 go.
    ValidationRow row = row_of("hilbert", 1000, 100, 1100, 130);
    CHECK_FALSE(causes_of(row, *find_metric(kFill)).has_value());
    row.replayed = ReplayedRow{{{kFill, 112}, {kTime, 1000}}, 0};
    const ErrorCauses causes = causes_of(row, *find_metric(kFill)).value();
    CHECK(causes.schedule == Approx(18));
    CHECK(causes.memory == Approx(12));
    CHECK_FALSE(causes_of(row, *find_metric(kTime)).has_value());  // times follow from the schedule

    row.recorded.measured[kHitRate] = 50;
    row.predicted[kHitRate] = 53;
    row.replayed->counters[kHitRate] = 49;
    const ErrorCauses points = causes_of(row, *find_metric(kHitRate)).value();
    CHECK(points.schedule == Approx(4));
    CHECK(points.memory == Approx(-1));
    const auto stats = cause_stats(std::vector{row});
    CHECK(stats.at(kFill).rows == 1);
    CHECK(stats.at(kFill).median_schedule == Approx(18));
    CHECK(stats.at(kHitRate).median_memory == Approx(1));
}

TEST_CASE("A 90th percentile is met at one and a half times that of repeated readings") {
    const ErrorStats stats{
        .rows = 10, .median_abs = 1, .p90_abs = 6, .max_abs = 20, .mean_abs = 2, .bias = 0};
    const Tolerance tolerance{2, 5, {}};
    const NoiseStats quiet{.readings = 9, .configurations = 3, .median_abs = 1, .p90_abs = 3.9};
    const NoiseStats loud{.readings = 9, .configurations = 3, .median_abs = 1, .p90_abs = 4};
    CHECK(judge(stats, tolerance, nullptr) == Verdict::Outside);
    CHECK(judge(stats, tolerance, &quiet) == Verdict::Outside);
    CHECK(judge(stats, tolerance, &loud) == Verdict::MetWithinNoise);
    CHECK(judge(stats, {2, 6, {}}, &loud) == Verdict::Met);
    CHECK(judge(stats, {0.5, 5, {}}, &loud) == Verdict::Outside);  // the median is another matter
    ValidationSummary summary;
    summary.counters[kFill] = stats;
    summary.noise[kFill] = loud;
    CHECK(outside(summary, {{kFill, tolerance}}).empty());
}

TEST_CASE("DRAM writes are judged on rows that write a tenth of their output or more") {
    // 1000 sectors of C: what the SMs looked up less what they read.
    ValidationRow row;
    row.predicted = {{"dram__sectors_write.sum", 110},
                     {"lts__t_sectors_srcunit_tex.sum", 5000},
                     {"lts__t_sectors_srcunit_tex_op_read.sum", 4000}};
    row.recorded.measured = {{"dram__sectors_write.sum", 100}};
    CHECK(prediction_error(row, *find_metric("dram__sectors_write.sum")) == Approx(10));
    row.recorded.measured["dram__sectors_write.sum"] = 99;
    CHECK(std::isnan(prediction_error(row, *find_metric("dram__sectors_write.sum"))));
}

TEST_CASE("The rows furthest off come first, whatever their sign") {
    const std::vector<ValidationRow> rows{row_of("a", 100, 1, 105, 1), row_of("b", 100, 1, 80, 1),
                                          row_of("c", 100, 1, 110, 1)};
    const auto worst = worst_rows(rows, *find_metric(kTime), 2);
    REQUIRE(worst.size() == 2);
    CHECK(worst[0].row == &rows[1]);
    CHECK(worst[0].error == Approx(-20));
    CHECK(worst[1].row == &rows[2]);
}
