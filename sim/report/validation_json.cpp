// SPDX-License-Identifier: Apache-2.0
// The document "l2lens/validation", and its rows as tidy CSV.
#include <cmath>
#include <optional>
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

ordered_json json_of_tau(std::optional<double> tau) {
    return tau ? json_of_error(*tau) : ordered_json(nullptr);
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
    if (!row.standard_errors.empty()) json["standard_errors"] = predicted_json(row.standard_errors);
    for (const char* model : {"flat_lru", "closed_form"}) {
        if (const Counters counters = simple_model_counters(row, model); !counters.empty())
            json["simple_models"][model] = predicted_json(counters);
    }
    if (row.replayed) {
        json["replayed"] = {{"counters", predicted_json(row.replayed->counters)},
                            {"cta_time_error_pct", json_of_error(row.replayed->cta_time_error_pct)}};
    }
    if (recorded.ctas_per_sm) {
        json["ctas_per_sm"] = {{"predicted", row.predicted_ctas_per_sm}, {"measured", *recorded.ctas_per_sm}};
    }
    return json;
}

std::string suffix_of(const Metric& metric) {
    return metric.unit == MetricUnit::Percent ? "points" : "pct";
}

ordered_json error_json(const Metric& metric, const ErrorStats& stats) {
    const std::string suffix = suffix_of(metric);
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

void add_noise(ordered_json& json, const Metric& metric, const NoiseStats& noise) {
    const std::string suffix = suffix_of(metric);
    json["noise_median_abs_" + suffix] = json_of_error(noise.median_abs);
    json["noise_p90_abs_" + suffix] = json_of_error(noise.p90_abs);
    json["noise_readings"] = noise.readings;
}

ordered_json causes_json(const Metric& metric, const ErrorCauses& causes) {
    const std::string suffix = suffix_of(metric);
    return {{"schedule_" + suffix, json_of_error(causes.schedule)},
            {"memory_" + suffix, json_of_error(causes.memory)}};
}

void add_causes(ordered_json& json, const Metric& metric, const CauseStats& causes) {
    const std::string suffix = suffix_of(metric);
    json["causes"] = {{"rows", causes.rows},
                      {"schedule_median_abs_" + suffix, json_of_error(causes.median_schedule)},
                      {"memory_median_abs_" + suffix, json_of_error(causes.median_memory)}};
}

// The rows furthest off: their places in `rows`.
ordered_json worst_json(const ValidationReport& report, const Metric& metric) {
    constexpr std::size_t kShown = 3;
    ordered_json json = ordered_json::array();
    for (const WorstRow& worst : worst_rows(report.plan.rows, metric, kShown)) {
        ordered_json entry{{"row", worst.row - report.plan.rows.data()},
                           {"error_" + suffix_of(metric), json_of_error(worst.error)}};
        if (const auto causes = causes_of(*worst.row, metric)) entry["causes"] = causes_json(metric, *causes);
        json.push_back(std::move(entry));
    }
    return json;
}

const char* verdict_name(Verdict verdict) {
    switch (verdict) {
        case Verdict::Met:
            return "met";
        case Verdict::MetWithinNoise:
            return "met_within_noise";
        case Verdict::Outside:
            break;
    }
    return "outside";
}

ordered_json stats_json(const ValidationReport& report, const Metric& metric, const ErrorStats& stats) {
    ordered_json json = error_json(metric, stats);
    const std::string id(metric.id);
    const ValidationSummary& summary = report.summary;
    if (const auto noise = summary.noise.find(id); noise != summary.noise.end())
        add_noise(json, metric, noise->second);
    if (const auto causes = summary.causes.find(id); causes != summary.causes.end())
        add_causes(json, metric, causes->second);
    if (const auto tolerance = report.tolerances.find(id); tolerance != report.tolerances.end())
        json["verdict"] = verdict_name(judge(summary, id, tolerance->second));
    json["worst"] = worst_json(report, metric);
    return json;
}

ordered_json regret_json(const RegretStats& regret) {
    return {{"groups", regret.groups},
            {"regret_pct_mean", json_of_error(regret.mean_pct)},
            {"regret_pct_max", json_of_error(regret.max_pct)}};
}

// Where no group has a pair of orders that measurement tells apart there is no tau, and it is null. A mean
// regret over no groups stands as 0: readers weigh it by its groups.
ordered_json ranking_json(const RankingStats& ranking) {
    return {{"groups", ranking.groups},
            {"groups_of_5_or_more", ranking.groups_of_5},
            {"groups_in_kendall_tau", ranking.groups_in_tau},
            {"groups_in_kendall_tau_dram", ranking.groups_in_tau_dram},
            {"kendall_tau_time", json_of_tau(ranking.kendall_tau_time)},
            {"kendall_tau_dram", json_of_tau(ranking.kendall_tau_dram)},
            {"best_order_regret_pct_mean", json_of_error(ranking.predicted_best.mean_pct)},
            {"best_order_regret_pct_max", json_of_error(ranking.predicted_best.max_pct)},
            {"pickers",
             {{"predicted_best", regret_json(ranking.predicted_best)},
              {"least_predicted_dram_fill", regret_json(ranking.least_predicted_fill)},
              {"group_m_16_or_nearest", regret_json(ranking.always_group_m_16)}}}};
}

ordered_json simple_models_json(const SimpleModelErrors& models) {
    ordered_json json = ordered_json::object();
    for (const auto& [model, errors] : models) {
        for (const auto& [id, stats] : errors) json[model][id] = error_json(*find_metric(id), stats);
    }
    return json;
}

ordered_json summary_json(const ValidationReport& report) {
    const ValidationSummary& summary = report.summary;
    ordered_json json = ordered_json::object();
    for (const Metric& metric : all_metrics()) {
        const auto found = summary.counters.find(std::string(metric.id));
        if (found != summary.counters.end()) json[found->first] = stats_json(report, metric, found->second);
    }
    json["ranking"] = ranking_json(summary.ranking);
    json["simple_models"] = simple_models_json(summary.simple_models);
    json["ctas_per_sm"] = {{"rows", summary.ctas_checked}, {"differ", summary.ctas_differ}};
    if (!summary.counted_nothing.empty()) json["counted_nothing"] = summary.counted_nothing;
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
                          {"summary", summary_json(report)},
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
