// SPDX-License-Identifier: Apache-2.0
// Predictions under the column names of the recorded hardware counters, so that one file format serves both
// and a prediction can be read back where a recording is expected.
#include "report/csv.hpp"
#include "report/format.hpp"
#include "report/predict_report.hpp"

namespace l2lens {
namespace {

// Columns of their own in front of the counters.
bool leads(const Metric& metric) {
    return metric.id == "time_us" || metric.id == "ctas_per_sm";
}

// A kernel's parameter `mode` is what the column `mode` says.
bool has_column(const std::pair<std::string, std::string>& param) {
    return param.first != "mode";
}

std::vector<std::string> header(const Kernel& kernel) {
    std::vector<std::string> columns{"kernel", "gpu"};
    for (const auto& param : kernel.params) {
        if (has_column(param)) columns.push_back(param.first);
    }
    for (const char* name : {"ctas_per_sm", "mode", "order", "rank", "engine", "time_us"})
        columns.emplace_back(name);
    for (const Metric& metric : all_metrics()) {
        if (!leads(metric)) columns.emplace_back(metric.id);
    }
    return columns;
}

std::vector<std::string> row(const PredictReport& report, const Prediction& prediction, std::size_t rank) {
    std::vector<std::string> fields{report.kernel.name, report.machine.name};
    for (const auto& param : report.kernel.params) {
        if (has_column(param)) fields.push_back(param.second);
    }
    fields.push_back(std::to_string(prediction.ctas_per_sm));
    fields.emplace_back(mode_name(prediction.mode));
    fields.push_back(prediction.order);
    fields.push_back(std::to_string(rank));
    fields.emplace_back(engine_name(prediction.engine));
    fields.push_back(format_exact(rounded(*find_metric("time_us"), prediction.time_ns / 1000.0)));
    for (const Metric& metric : all_metrics()) {
        if (leads(metric)) continue;
        const double value = value_of(prediction, std::string(metric.id));
        fields.push_back(value == value ? format_exact(rounded(metric, value)) : "");
    }
    return fields;
}

}  // namespace

std::string predict_csv(const PredictReport& report) {
    std::vector<std::size_t> rank_of(report.predictions.size());
    const std::vector<std::size_t> ranks = ranking(report.predictions);
    for (std::size_t i = 0; i < ranks.size(); ++i) rank_of[ranks[i]] = i + 1;

    std::string text = csv_line(header(report.kernel));
    for (std::size_t i = 0; i < report.predictions.size(); ++i) {
        text += csv_line(row(report, report.predictions[i], rank_of[i]));
    }
    return text;
}

}  // namespace l2lens
