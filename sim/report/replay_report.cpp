// SPDX-License-Identifier: Apache-2.0
#include "report/replay_report.hpp"

#include <cmath>

#include <fmt/format.h>

#include "report/csv.hpp"
#include "report/format.hpp"
#include "report/json_meta.hpp"
#include "report/text_table.hpp"

namespace l2lens {
namespace {

using nlohmann::ordered_json;

const std::map<std::string, double>& values_of(const ReplayReport& report, MetricKind kind) {
    return kind == MetricKind::Hardware ? report.counters : report.metrics;
}

// Calls body(metric, rounded value) for all that are known, in the order of the table of metrics.
template <class Body>
void for_each_value(const ReplayReport& report, MetricKind kind, Body&& body) {
    for (const Metric& metric : all_metrics()) {
        if (metric.kind != kind) continue;
        const auto& values = values_of(report, kind);
        if (const auto found = values.find(std::string(metric.id)); found != values.end()) {
            body(metric, rounded(metric, found->second));
        }
    }
}

ordered_json values_json(const ReplayReport& report, MetricKind kind) {
    ordered_json object = ordered_json::object();
    for_each_value(report, kind, [&](const Metric& metric, double value) {
        object[std::string(metric.id)] = json_of(value);
    });
    return object;
}

std::string sample_text(const ReplayReport& report) {
    if (report.lanes == report.lanes_of) return "1";
    return fmt::format("1/{}", std::lround(static_cast<double>(report.lanes_of) / report.lanes));
}

std::string header_text(const ReplayReport& report) {
    std::string text = report.trace;
    if (!report.title.empty()) text += ": " + report.title;
    for (const std::string& word : {report.order, report.mode}) {
        if (!word.empty()) text += ", " + one_line(word, 40);
    }
    return text + fmt::format(", replayed on {}: {} requests in {} of {} lanes, {}", report.gpu,
                              format_count(static_cast<double>(report.requests)), report.lanes,
                              report.lanes_of, format_time(report.last_answer_ns));
}

}  // namespace

std::string replay_text(const ReplayReport& report, bool colour) {
    TextTable table({{"counter", Align::Left}, {"value", Align::Right}, {"unit", Align::Left}});
    for (const MetricKind kind : {MetricKind::Neutral, MetricKind::Hardware}) {
        for_each_value(report, kind, [&](const Metric& metric, double value) {
            table.add_row({std::string(metric.id), format_exact(value), std::string(unit_name(metric.unit))});
        });
    }
    return styled(header_text(report), Style::Bold, colour) + "\n" + table.text(colour);
}

std::string replay_json(const ReplayReport& report) {
    ordered_json result{{"order", report.order},
                        {"mode", report.mode},
                        {"engine", "line"},
                        {"sample", sample_text(report)},
                        {"seed", report.seed},
                        {"counters", values_json(report, MetricKind::Hardware)},
                        {"metrics", values_json(report, MetricKind::Neutral)}};
    return document_text({{"schema", "l2lens/replay"},
                          {"schema_version", kSchemaVersion},
                          {"meta", json_of(report.meta)},
                          {"trace",
                           {{"file", report.trace},
                            {"complete", report.complete},
                            {"records", report.records},
                            {"requests", report.requests},
                            {"last_answer_ns", json_of(report.last_answer_ns)}}},
                          {"kernel", {{"name", report.kernel}, {"params", json_of(report.params)}}},
                          {"gpu", report.gpu},
                          {"results", ordered_json::array({std::move(result)})}});
}

std::string replay_csv(const ReplayReport& report) {
    std::vector<std::string> columns{"trace", "gpu", "kernel", "mode", "order"};
    std::vector<std::string> fields{report.trace, report.gpu, report.kernel, report.mode, report.order};
    for (const MetricKind kind : {MetricKind::Hardware, MetricKind::Neutral}) {
        for_each_value(report, kind, [&](const Metric& metric, double value) {
            columns.emplace_back(metric.id);
            fields.push_back(format_exact(value));
        });
    }
    return csv_line(columns) + csv_line(fields);
}

}  // namespace l2lens
