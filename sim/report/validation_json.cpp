// SPDX-License-Identifier: Apache-2.0
// The document "l2lens/validation", and its rows as tidy CSV.
#include <cmath>
#include <set>

#include "report/csv.hpp"
#include "report/format.hpp"
#include "report/json_meta.hpp"
#include "report/validation_report.hpp"

namespace l2lens {
namespace {

using nlohmann::ordered_json;

// Errors to a thousandth of a percent.
ordered_json json_of_error(double error) {
    return json_of(std::nearbyint(error * 1e3) / 1e3);
}

ordered_json predicted_json(const std::map<std::string, double>& values) {
    ordered_json object = ordered_json::object();
    for (const Metric& metric : all_metrics()) {
        const auto found = values.find(std::string(metric.id));
        if (found != values.end()) object[found->first] = json_of(rounded(metric, found->second));
    }
    return object;
}

ordered_json measured_json(const std::map<std::string, double>& values) {
    ordered_json object = ordered_json::object();
    for (const auto& [name, value] : values) object[name] = json_of(value);
    return object;
}

ordered_json row_json(const ValidationRow& row) {
    const RecordedRow& recorded = row.recorded;
    ordered_json json{{"kernel", recorded.kernel},
                      {"params", json_of(recorded.params)},
                      {"mode", mode_name(recorded.mode)},
                      {"order", recorded.order},
                      {"split", recorded.split},
                      {"file", recorded.file},
                      {"line", recorded.line},
                      {"repeats", row.repeats},
                      {"predicted", predicted_json(row.predicted)},
                      {"measured", measured_json(recorded.measured)}};
    if (recorded.ctas_per_sm) {
        json["ctas_per_sm"] = {{"predicted", row.predicted_ctas_per_sm}, {"measured", *recorded.ctas_per_sm}};
    }
    return json;
}

ordered_json stats_json(const Metric& metric, const ErrorStats& stats) {
    const std::string suffix = metric.unit == MetricUnit::Percent ? "points" : "pct";
    ordered_json json;
    if (metric.id == "gpu__time_duration.sum") json["mape_pct"] = json_of_error(stats.mean_abs);
    json["median_abs_" + suffix] = json_of_error(stats.median_abs);
    json["p90_abs_" + suffix] = json_of_error(stats.p90_abs);
    json["max_abs_" + suffix] = json_of_error(stats.max_abs);
    json["mean_abs_" + suffix] = json_of_error(stats.mean_abs);
    json["bias_" + suffix] = json_of_error(stats.bias);
    json["rows"] = stats.rows;
    return json;
}

ordered_json ranking_json(const RankingStats& ranking) {
    return {{"groups", ranking.groups},
            {"kendall_tau_time", json_of_error(ranking.kendall_tau_time)},
            {"kendall_tau_dram", json_of_error(ranking.kendall_tau_dram)},
            {"best_order_regret_pct_mean", json_of_error(ranking.regret_pct_mean)},
            {"best_order_regret_pct_max", json_of_error(ranking.regret_pct_max)}};
}

ordered_json summary_json(const ValidationSummary& summary) {
    ordered_json json = ordered_json::object();
    for (const Metric& metric : all_metrics()) {
        const auto found = summary.counters.find(std::string(metric.id));
        if (found != summary.counters.end()) json[found->first] = stats_json(metric, found->second);
    }
    json["ranking"] = ranking_json(summary.ranking);
    json["ctas_per_sm"] = {{"rows", summary.ctas_checked}, {"differ", summary.ctas_differ}};
    return json;
}

ordered_json tolerances_json(const Tolerances& tolerances) {
    ordered_json json = ordered_json::object();
    for (const auto& [name, tolerance] : tolerances) {
        ordered_json& entry = json[name] = ordered_json::object();
        if (tolerance.median) entry["median"] = *tolerance.median;
        if (tolerance.p90) entry["p90"] = *tolerance.p90;
        if (tolerance.mean) entry["mean"] = *tolerance.mean;
    }
    return json;
}

std::string params_text(const RecordedRow& row) {
    std::string text;
    for (const auto& [name, value] : row.params) text += (text.empty() ? "" : " ") + name + "=" + value;
    return text;
}

}  // namespace

std::string validation_json(const ValidationReport& report) {
    ordered_json rows = ordered_json::array();
    for (const ValidationRow& row : report.plan.rows) rows.push_back(row_json(row));
    return document_text({{"schema", "l2lens/validation"},
                          {"schema_version", kSchemaVersion},
                          {"meta", json_of(report.meta)},
                          {"gpu", report.gpu},
                          {"recorded_rows", report.plan.recorded_rows},
                          {"skipped_random", report.plan.skipped_random},
                          {"other_split", report.plan.other_split},
                          {"rows", std::move(rows)},
                          {"summary", summary_json(report.summary)},
                          {"tolerances", tolerances_json(report.tolerances)},
                          {"outside", outside(report.summary, report.tolerances)}});
}

std::string validation_csv(const ValidationReport& report) {
    std::string text = csv_line(
        {"kernel", "params", "mode", "order", "split", "counter", "unit", "predicted", "measured", "error"});
    for (const ValidationRow& row : report.plan.rows) {
        for (const Metric& metric : all_metrics()) {
            const double error =
                metric.kind == MetricKind::Hardware ? prediction_error(row, metric) : kUnknown;
            if (std::isnan(error)) continue;
            const std::string id(metric.id);
            text += csv_line({row.recorded.kernel, params_text(row.recorded),
                              std::string(mode_name(row.recorded.mode)), row.recorded.order,
                              row.recorded.split, id, std::string(unit_name(metric.unit)),
                              format_exact(rounded(metric, row.predicted.at(id))),
                              format_exact(row.recorded.measured.at(id)),
                              format_exact(std::nearbyint(error * 1e3) / 1e3)});
        }
    }
    return text;
}

}  // namespace l2lens
