// SPDX-License-Identifier: Apache-2.0
// Statistics against values worked out by hand, and every way a recorded CSV can be wrong.
#include "report/validation.hpp"

#include "base/error.hpp"
#include "report/statistics.hpp"
#include "report/validation_report.hpp"
#include "support/catch.hpp"
#include "support/complaint.hpp"

using namespace l2lens;

namespace {

std::vector<std::string> gemm_parameters(const std::string& kernel) {
    if (kernel != "gemm") throw BadInput("unknown kernel '" + kernel + "'; did you mean 'gemm'?");
    return {"m", "n", "k"};
}

std::vector<RecordedRow> read(const std::string& text) {
    return read_recorded_csv(text, "x.csv", gemm_parameters);
}

std::string complaint(const std::string& text) {
    return test::complaint_of([&] { read(text); });
}

}  // namespace

TEST_CASE("Quantiles interpolate between order statistics") {
    // numpy.percentile([15, 20, 35, 40, 50], 40) is 29: position 0.4 * 4 = 1.6, 20 + 0.6 * 15.
    const std::vector<double> values{50, 15, 40, 20, 35};
    CHECK(percentile(values, 0.4) == Approx(29));
    CHECK(percentile(values, 0.5) == 35);
    CHECK(percentile(values, 0) == 15);
    CHECK(percentile(values, 1) == 50);
    CHECK(percentile(std::vector<double>{7}, 0.9) == 7);
}

TEST_CASE("Errors keep their sign in the bias only") {
    // |e| sorted: 1 2 3 10; median 2.5; p90 at 2.7: 3 + 0.7 * 7 = 7.9; bias (-10 + 1 + 2 + 3) / 4.
    const ErrorStats stats = error_stats(std::vector<double>{-10, 1, 2, 3});
    CHECK(stats.rows == 4);
    CHECK(stats.median_abs == 2.5);
    CHECK(stats.p90_abs == Approx(7.9));
    CHECK(stats.max_abs == 10);
    CHECK(stats.mean_abs == 4);
    CHECK(stats.bias == -1);
    CHECK(error_stats({}).rows == 0);
}

TEST_CASE("Kendall's tau counts concordant pairs") {
    const std::vector<double> a{1, 2, 3, 4};
    const auto tau = [](const auto& x, const auto& y) { return kendall_tau_apart(x, y, 0).value(); };
    CHECK(tau(a, std::vector<double>{10, 20, 30, 40}) == Approx(1));
    CHECK(tau(a, std::vector<double>{4, 3, 2, 1}) == Approx(-1));
    // One swap of neighbours: 5 concordant, 1 discordant of 6 pairs.
    CHECK(tau(a, std::vector<double>{1, 3, 2, 4}) == Approx(4.0 / 6));
    // One tie in b: 5 concordant pairs over sqrt(6 * 5).
    CHECK(tau(a, std::vector<double>{1, 2, 2, 3}) == Approx(5 / std::sqrt(30.0)));
    CHECK(tau(a, std::vector<double>{5, 5, 5, 5}) == 0);
}

TEST_CASE("Repeats are averaged and counted once, random orders are skipped, splits are chosen") {
    const std::string text =
        "kernel,m,order,mode,repeat,split,lts__t_sectors.sum\n"
        "gemm,1,hilbert,grid,0,fit,100\n"
        "gemm,1,hilbert,static,0,fit,500\n"
        "gemm,1,hilbert,grid,1,fit,110\n"
        "gemm,1,random,grid,0,fit,7\n"
        "gemm,2,hilbert,grid,0,test,1\n";
    const ValidationPlan all = plan_validation(read(text), "");
    REQUIRE(all.rows.size() == 3);
    CHECK(all.recorded_rows == 5);
    CHECK(all.skipped_random == 1);
    CHECK(all.rows[0].repeats == 2);
    CHECK(all.rows[0].recorded.measured.at("lts__t_sectors.sum") == 105);
    CHECK(all.rows[1].recorded.mode == Mode::Static);

    const ValidationPlan test = plan_validation(read(text), "test");
    REQUIRE(test.rows.size() == 1);
    CHECK(test.other_split == 4);
}

TEST_CASE("Errors are percent of the measured value, points for rates, and unknown for a measured zero") {
    ValidationRow row;
    row.recorded.measured = {
        {"lts__t_sectors.sum", 200}, {"lts__t_sector_hit_rate.pct", 50}, {"dram__sectors_write.sum", 0}};
    row.predicted = {
        {"lts__t_sectors.sum", 210}, {"lts__t_sector_hit_rate.pct", 48}, {"dram__sectors_write.sum", 9}};
    CHECK(prediction_error(row, *find_metric("lts__t_sectors.sum")) == Approx(5));
    CHECK(prediction_error(row, *find_metric("lts__t_sector_hit_rate.pct")) == Approx(-2));
    CHECK(std::isnan(prediction_error(row, *find_metric("dram__sectors_write.sum"))));
    CHECK(std::isnan(prediction_error(row, *find_metric("dram__sectors_read.sum"))));

    const Metric& promoted = *find_metric("lts__t_sectors_lookup_miss_data_promoted.sum");
    row.recorded.measured = {{"lts__t_sectors.sum", 1e6}, {std::string(promoted.id), 50}};
    row.predicted = {{std::string(promoted.id), 0}};
    CHECK(std::isnan(prediction_error(row, promoted)));  // 50 of 1e6 sectors: noise
    row.predicted = {{std::string(promoted.id), 5000}};
    CHECK(prediction_error(row, promoted) == Approx(4950));  // but predicting many is an error: of 100
}

TEST_CASE("What was counted as 0 and is predicted is left out by name") {
    std::vector<ValidationRow> rows(3);
    for (ValidationRow& row : rows) {
        row.recorded.measured = {{"lts__t_sectors.sum", 1e6}, {"lts__d_sectors_fill_device.sum", 0}};
        row.predicted = {{"lts__t_sectors.sum", 1e6}, {"lts__d_sectors_fill_device.sum", 5000}};
    }
    rows[1].predicted["lts__d_sectors_fill_device.sum"] = 50;  // of 1e6 sectors: nothing either
    const ValidationSummary summary = summarise(rows);
    CHECK(summary.counters.count("lts__d_sectors_fill_device.sum") == 0);
    CHECK(summary.counted_nothing ==
          std::map<std::string, std::size_t>{{"lts__d_sectors_fill_device.sum", 2}});
    CHECK_THAT(
        validation_text({{rows, 3}, summary, {}, "h200", {}}, false),
        ContainsSubstring("0 was counted and more is predicted: lts__d_sectors_fill_device.sum in 2 rows"));
    rows[0].recorded.measured["lts__d_sectors_fill_device.sum"] = 5000;
    CHECK(summarise(std::span(rows).first(2)).counted_nothing.empty());
}

TEST_CASE("A column that is nearly a counter's name is asked about") {
    const auto notes_of = [](const std::string& columns) {
        return misspelt_counters(
            read_recorded_csv("kernel,order," + columns + "\ngemm,hilbert,1,1\n", "x.csv",
                              [](const std::string&) { return std::vector<std::string>{}; }));
    };
    CHECK(notes_of("lts__t_sektors.sum,gpu__time_duration.sum") ==
          std::vector<std::string>{
              "column 'lts__t_sektors.sum' is not compared; did you mean 'lts__t_sectors.sum'?"});
    CHECK(notes_of("lts__t_sectors.sum,lts__t_sectors.sun").empty());  // the counter is there, too
    CHECK(notes_of("gpu__time_duration.sum,smsp__inst_executed.sum").empty());
}

TEST_CASE("Ranking looks at groups of rows alike but for the order") {
    auto rows = plan_validation(read("kernel,m,order,gpu__time_duration.sum,lts__d_sectors_fill_device.sum\n"
                                     "gemm,1,row_major,300,30\n"
                                     "gemm,1,hilbert,200,20\n"
                                     "gemm,1,morton,220,10\n"
                                     "gemm,2,hilbert,999,1\n"),
                                "")
                    .rows;
    const double predicted_time[] = {310, 230, 210, 1}, predicted_fill[] = {30, 20, 10, 1};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        rows[i].predicted = {{"gpu__time_duration.sum", predicted_time[i]},
                             {"lts__d_sectors_fill_device.sum", predicted_fill[i]}};
    }
    const RankingStats ranking = summarise(rows).ranking;
    CHECK(ranking.groups == 1);  // m=2 has one row only
    // hilbert and morton swapped: 2 concordant, 1 discordant of 3.
    CHECK(ranking.kendall_tau_time.value() == Approx(1.0 / 3));
    CHECK(ranking.kendall_tau_dram.value() == Approx(1));
    CHECK(ranking.predicted_best.mean_pct == Approx(10));  // morton chosen, 220 against 200
    CHECK(ranking.predicted_best.max_pct == Approx(10));
}

TEST_CASE("A prediction is outside when any limit of its counter is exceeded") {
    const ErrorStats stats{
        .rows = 10, .median_abs = 2, .p90_abs = 9, .max_abs = 20, .mean_abs = 4, .bias = 1};
    CHECK(judge(stats, {2, 9, 4}, nullptr) == Verdict::Met);
    CHECK(judge(stats, {1.9, 9, 4}, nullptr) == Verdict::Outside);
    CHECK(judge(stats, {2, 8.9, 4}, nullptr) == Verdict::Outside);
    CHECK(judge(stats, {2, 9, 3.9}, nullptr) == Verdict::Outside);
    CHECK(judge(stats, {}, nullptr) == Verdict::Met);
    ValidationSummary summary;
    summary.counters["lts__t_sectors.sum"] = stats;
    CHECK(outside(summary, {{"lts__t_sectors.sum", {1, {}, {}}}, {"dram__sectors_read.sum", {0, {}, {}}}}) ==
          std::vector<std::string>{"lts__t_sectors.sum"});
}

TEST_CASE("The shipped tolerances are read, a file's own where all rows are of it") {
    const auto rows_of = [](std::initializer_list<const char*> files) {
        std::vector<RecordedRow> rows(files.size());
        std::size_t i = 0;
        for (const char* file : files) rows[i++].file = file;
        return rows;
    };
    const Accepted accepted = parse_accepted(
        "[\"lts__t_sectors.sum\"]\nmedian = 5\n[\"a.csv\".\"lts__t_sectors.sum\"]\nmedian = 2\np90 = 3\n"
        "[\"b.csv\".\"lts__t_sectors.sum\"]\nmean = 1\n",
        "accepted.toml");
    CHECK(accepted.of(rows_of({"x/a.csv", "x/a.csv"})).at("lts__t_sectors.sum").median == 2);
    CHECK(accepted.of(rows_of({"b.csv"})).at("lts__t_sectors.sum").mean == 1);
    CHECK(accepted.of(rows_of({"a.csv", "b.csv"})).at("lts__t_sectors.sum").median == 5);
    CHECK(accepted.of(rows_of({"a.csv", "c.csv"})).at("lts__t_sectors.sum").median == 5);
    CHECK(accepted.of(rows_of({"aa.csv"})).at("lts__t_sectors.sum").median == 5);
    CHECK(accepted.of({}).at("lts__t_sectors.sum").median == 5);

    // The figures that the project has set itself (traces/h200/accepted.toml).
    const Tolerances& built_on = accepted_tolerances().of(rows_of({"traces/h200/gemm.csv"}));
    CHECK(built_on.at("lts__d_sectors_fill_device.sum").median == 0.5);
    CHECK(built_on.at("lts__d_sectors_fill_device.sum").p90 == 4.0);
    CHECK(built_on.at("gpu__time_duration.sum").mean == 5.0);
    CHECK_FALSE(built_on.at("gpu__time_duration.sum").median.has_value());
    CHECK(accepted_tolerances().of(rows_of({"gemm_more.csv"})).at("lts__d_sectors_fill_device.sum").p90 ==
          6.0);
}

TEST_CASE("Tolerances are parsed strictly") {
    CHECK(parse_tolerances("lts__t_sectors.sum=5,lts__t_sector_hit_rate.pct=1.5")
              .at("lts__t_sector_hit_rate.pct")
              .median == 1.5);
    CHECK_THROWS_WITH(parse_tolerances("lts__t_sector.sum=5"),
                      ContainsSubstring("did you mean 'lts__t_sectors.sum'"));
    CHECK_THROWS_WITH(parse_tolerances("lts__t_sectors.sum"), ContainsSubstring("COUNTER=P"));
    CHECK_THROWS_WITH(parse_tolerances("lts__t_sectors.sum=5,"), ContainsSubstring("COUNTER=P"));
    CHECK_THROWS_WITH(parse_tolerances("lts__t_sectors.sum=five"),
                      ContainsSubstring("'five' is not a number"));
    CHECK_THROWS_WITH(parse_tolerances("lts__t_sectors.sum=-1"), ContainsSubstring("at least 0"));
    CHECK_THROWS_WITH(parse_tolerances("lts__t_sectors.sum=nan"), ContainsSubstring("at least 0"));
    CHECK_THROWS_WITH(parse_accepted("[\"lts__t_sectors.sum\"]\nmedain = 1\n", "a.toml"),
                      ContainsSubstring("a.toml:2: unknown key 'medain'; did you mean 'median'?"));
    CHECK_THROWS_WITH(parse_accepted("[\"lts__t_sectors.sum\"]\nmedian = true\n", "a.toml"),
                      ContainsSubstring("a.toml:2:"));
    CHECK_THROWS_WITH(parse_accepted("[lts\n", "a.toml"), ContainsSubstring("a.toml:1:"));
    CHECK_THROWS_WITH(parse_accepted("[\"a.csv\".\"lts__t_sector.sum\"]\n", "a.toml"),
                      ContainsSubstring("a.toml:1: unknown counter 'lts__t_sector.sum'"));
    CHECK_THROWS_WITH(parse_accepted("\"a.csv\" = 3\n", "a.toml"), ContainsSubstring("a.toml:1: tables"));
}

TEST_CASE("A quoted field may hold commas, quotes and line ends; CRLF and a byte order mark are fine") {
    const auto rows = read(
        "\xEF\xBB\xBFkernel,order,lts__t_sectors.sum\r\n"
        "gemm,\"lua: return \"\"a\"\", b\nend\",1\r\n"
        "gemm,hilbert,2");
    REQUIRE(rows.size() == 2);
    CHECK(rows[0].order == "lua: return \"a\", b\nend");
    CHECK(rows[1].line == 4);
    CHECK(rows[1].measured.at("lts__t_sectors.sum") == 2);
}

TEST_CASE("Each wrong CSV is refused with its line and column") {
    const std::string header = "kernel,m,order,mode,repeat,ctas_per_sm,lts__t_sectors.sum\n";
    CHECK(complaint("") == "x.csv: the file is empty; a header line belongs there");
    CHECK(complaint(header) == "x.csv: a header but no rows");
    CHECK(complaint(header + "gemm,1,hilbert,grid,0\n") ==
          "x.csv:2: 5 fields, but the header names 7 columns ('ctas_per_sm' is the first one missing)");
    CHECK_THAT(complaint(header + "gemm,1,hilbert,grid,0,1,2,3\n"), ContainsSubstring("x.csv:2: 8 fields"));
    CHECK_THAT(complaint(header + "gemm,1,hilbert,grid,0,1,2\n\n"), ContainsSubstring("x.csv:3: 1 fields"));
    CHECK(complaint(header + "gemm,1,hilbert,grid,0,1,12x\n") ==
          "x.csv:2: column 'lts__t_sectors.sum': '12x' is not a number");
    CHECK_THAT(complaint(header + "gemm,1,hilbert,grid,0,1,nan\n"),
               ContainsSubstring("'nan' is not a number"));
    CHECK_THAT(complaint(header + "gemm,1,hilbert,grid,0,1,1e999\n"),
               ContainsSubstring("'1e999' is not a number"));
    CHECK_THAT(complaint(header + "gemm,1,hilbert,grid,0,1,-3\n"), ContainsSubstring("-3 is negative"));
    CHECK(complaint("kernel,order,lts__t_sector_hit_rate.pct\ngemm,hilbert,100.5\n") ==
          "x.csv:2: column 'lts__t_sector_hit_rate.pct': 100.5 is more than 100 %");
    CHECK_THAT(complaint(header + "gemm,1,hilbert,grid,0,1.5,3\n"),
               ContainsSubstring("column 'ctas_per_sm': '1.5'"));
    CHECK(complaint(header + "gemm,1,hilbert,gridd,0,1,3\n") ==
          "x.csv:2: column 'mode': unknown mode 'gridd'; did you mean 'grid'?");
    CHECK(complaint(header + ",1,hilbert,grid,0,1,3\n") == "x.csv:2: no kernel in column 'kernel'");
    CHECK(complaint(header + "gemm,1,,grid,0,1,3\n") == "x.csv:2: no order in column 'order'");
    CHECK(complaint(header + "gmem,1,hilbert,grid,0,1,3\n") ==
          "x.csv:2: column 'kernel': unknown kernel 'gmem'; did you mean 'gemm'?");
    CHECK(complaint("kernel,mm,order,lts__t_sectors.sum\ngemm,1,hilbert,3\n") ==
          "x.csv:2: column 'mm' is neither a parameter of kernel 'gemm' nor a counter; did you mean 'm'?");
    CHECK_THAT(complaint("kernel,m,ordr,lts__t_sectors.sum\ngemm,1,hilbert,3\n"),
               ContainsSubstring("x.csv:1: no column 'order'; did you mean 'ordr'?"));
    CHECK(complaint("kernel,m,order\ngemm,1,hilbert\n") ==
          "x.csv:1: no column is a counter, so there is nothing to compare");
    CHECK_THAT(complaint("kernel,m,m,order\n"), ContainsSubstring("column 'm' is there twice"));
    CHECK_THAT(complaint("kernel,,order\n"), ContainsSubstring("column 2 has no name"));
    CHECK_THAT(complaint(header + "gemm,1,\"hilbert,grid,0,1,3\n"),
               ContainsSubstring("x.csv:2: a quoted field is never"));
    CHECK_THAT(complaint(header + "gemm,1,\"hilbert\"x,grid,0,1,3\n"),
               ContainsSubstring("text after a closing quote"));
    CHECK_THAT(complaint(header + "gemm,1,hil\"bert,grid,0,1,3\n"),
               ContainsSubstring("a quote inside a field"));
}

TEST_CASE("An empty cell means not measured, or the parameter's default") {
    const auto rows = read("kernel,m,order,lts__t_sectors.sum,dram__sectors_read.sum\ngemm,,hilbert,,5\n");
    CHECK(rows.at(0).params.empty());
    CHECK(rows.at(0).measured.count("lts__t_sectors.sum") == 0);
    CHECK(rows.at(0).measured.at("dram__sectors_read.sum") == 5);
}

TEST_CASE("A kernel's own parameter named split is not the split of a fit") {
    const auto names = [](const std::string&) { return std::vector<std::string>{"split"}; };
    const auto rows =
        read_recorded_csv("kernel,split,order,lts__t_sectors.sum\nsplitk,4,hilbert,1\n", "x.csv", names);
    CHECK(rows.at(0).split.empty());
    CHECK(rows.at(0).params == std::vector<std::pair<std::string, std::string>>{{"split", "4"}});
}

TEST_CASE("Counters are told from parameters by their names") {
    CHECK(is_counter_name("lts__anything.sum"));
    CHECK(is_counter_name("TCC_HIT_sum"));
    CHECK(is_counter_name("time_us"));
    CHECK_FALSE(is_counter_name("stages"));
    CHECK_FALSE(is_counter_name("ctas_per_sm"));
}
