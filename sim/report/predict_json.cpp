// SPDX-License-Identifier: Apache-2.0
// The document "l2lens/prediction". Results stand in the order they were asked for; `rank` is a field.
#include <fmt/format.h>

#include "report/json_meta.hpp"
#include "report/predict_report.hpp"

namespace l2lens {
namespace {

using nlohmann::ordered_json;

// The known values of one kind, in the order of the table of metrics.
ordered_json values_json(const std::map<std::string, double>& values, MetricKind kind) {
    ordered_json object = ordered_json::object();
    for (const Metric& metric : all_metrics()) {
        const auto found = values.find(std::string(metric.id));
        if (metric.kind != kind || found == values.end()) continue;
        object[found->first] = json_of(rounded(metric, found->second));
    }
    return object;
}

ordered_json result_json(const Prediction& prediction, std::size_t rank) {
    return {{"order", prediction.order},
            {"mode", mode_name(prediction.mode)},
            {"rank", rank},
            {"time_us", json_of(rounded(*find_metric("time_us"), prediction.time_ns / 1000.0))},
            {"engine", engine_name(prediction.engine)},
            {"sample", prediction.sample == 1 ? "1" : fmt::format("1/{}", prediction.sample)},
            {"seeds", prediction.seeds},
            {"counters", values_json(prediction.counters, MetricKind::Hardware)},
            {"metrics", values_json(prediction.metrics, MetricKind::Neutral)},
            {"wave_footprint",
             {{"mean_rows", json_of(prediction.footprint.mean_rows)},
              {"mean_columns", json_of(prediction.footprint.mean_columns)},
              {"jumps", prediction.footprint.jumps}}}};
}

}  // namespace

std::string predict_json(const PredictReport& report) {
    std::vector<std::size_t> rank_of(report.predictions.size());
    const std::vector<std::size_t> ranks = ranking(report.predictions);
    for (std::size_t i = 0; i < ranks.size(); ++i) rank_of[ranks[i]] = i + 1;

    ordered_json results = ordered_json::array();
    for (std::size_t i = 0; i < report.predictions.size(); ++i) {
        results.push_back(result_json(report.predictions[i], rank_of[i]));
    }
    return document_text(
        {{"schema", "l2lens/prediction"},
         {"schema_version", kSchemaVersion},
         {"meta", json_of(report.meta)},
         {"kernel", {{"name", report.kernel.name}, {"params", json_of(report.kernel.params)}}},
         {"gpu", report.machine.name},
         {"results", std::move(results)}});
}

}  // namespace l2lens
