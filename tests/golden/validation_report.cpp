// SPDX-License-Identifier: Apache-2.0
#include "report/validation_report.hpp"

#include "approve.hpp"
#include "sample_report.hpp"

using namespace l2lens;
using namespace l2lens::golden;

namespace {

constexpr const char* kCsv =
    "kernel,m,n,mode,order,repeat,split,ctas_per_sm,lts__t_sectors.sum,lts__d_sectors_fill_device.sum,"
    "lts__t_sector_hit_rate.pct,gpu__time_duration.sum,lts__t_sectors.max\n"
    "gemm,1024,1024,grid,row_major,0,fit,1,1000000,200000,50,1000,20000\n"
    "gemm,1024,1024,grid,hilbert,0,fit,1,800000,100000,70,800,15000\n"
    "gemm,1024,1024,grid,hilbert,1,fit,1,800000,120000,72,820,15000\n"
    "gemm,1024,1024,grid,random,0,fit,1,900000,300000,20,2000,15000\n"
    "gemm,2048,1024,static,hilbert,0,fit,2,1600000,0,70,1700,30000\n";

// row_major is predicted 10 % high in DRAM fill, hilbert as measured (mean of the two readings).
std::vector<RecordedRow> sample_rows() {
    return read_recorded_csv(kCsv, "sample.csv", [](const std::string&) {
        return std::vector<std::string>{"m", "n"};
    });
}

ValidationPlan predicted_plan() {
    ValidationPlan plan = plan_validation(sample_rows(), "");
    plan.rows.at(0).predicted = {{"lts__t_sectors.sum", 1020000},
                                 {"lts__d_sectors_fill_device.sum", 220000},
                                 {"lts__t_sector_hit_rate.pct", 53},
                                 {"gpu__time_duration.sum", 990}};
    plan.rows.at(1).predicted = {{"lts__t_sectors.sum", 800000},
                                 {"lts__d_sectors_fill_device.sum", 110000},
                                 {"lts__t_sector_hit_rate.pct", 71},
                                 {"gpu__time_duration.sum", 810}};
    plan.rows.at(2).predicted = {{"lts__t_sectors.sum", 1520000},
                                 {"lts__d_sectors_fill_device.sum", 5},
                                 {"lts__t_sector_hit_rate.pct", 69},
                                 {"gpu__time_duration.sum", 1717}};
    for (ValidationRow& row : plan.rows) {
        row.predicted_ctas_per_sm = 1;
        row.predicted["lrc__request_sectors_op_read_coalescable.sum"] = 2000000;
        row.metrics = {{"flat_lru_hit_rate_pct", 90}, {"closed_form_hit_rate_pct", 80}};
    }
    // Under the schedule that the GPU recorded, row_major loses half of its error in DRAM fill.
    plan.rows.at(0).replayed =
        ReplayedRow{{{"lts__d_sectors_fill_device.sum", 210000}, {"lts__t_sector_hit_rate.pct", 52}}, -1.25};
    return plan;
}

}  // namespace

TEST_CASE("The scoreboard, the JSON and the CSV of a validation") {
    const ValidationPlan plan = predicted_plan();
    const ValidationSummary summary = summarise(plan.rows, repeat_noise(sample_rows()));
    const Tolerances& tolerances = accepted_tolerances().any;
    const ValidationReport report{plan, summary, tolerances, "h200", fixed_meta()};
    check_approved("validation.txt", validation_text(report, false));
    check_approved("validation.json", validation_json(report));
    check_approved("validation.csv", validation_csv(report));
}
