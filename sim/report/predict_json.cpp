// SPDX-License-Identifier: Apache-2.0
// The document "l2lens/prediction". Results stand in the order they were asked for; `rank` is a field.
#include <fmt/format.h>

#include "report/advice.hpp"
#include "report/details_json.hpp"
#include "report/json_meta.hpp"
#include "report/predict_document.hpp"

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

ordered_json kernel_json(const Kernel& kernel) {
    ordered_json tensors = ordered_json::array();
    for (const Tensor& tensor : kernel.tensors) {
        ordered_json shape = ordered_json::array();
        for (std::size_t d = 0; d < static_cast<std::size_t>(tensor.rank); ++d)
            shape.push_back(tensor.shape[d]);
        tensors.push_back(
            {{"name", tensor.name}, {"shape", std::move(shape)}, {"element_bytes", tensor.element_bytes}});
    }
    return {{"name", kernel.name},   {"params", json_of(kernel.params)},
            {"title", kernel.title}, {"axes", kernel.axes},
            {"grid", kernel.grid},   {"tensors", std::move(tensors)}};
}

ordered_json machine_json(const Machine& machine) {
    ordered_json gpcs = ordered_json::array();
    ordered_json partitions = ordered_json::array();
    for (const Sm& sm : machine.sms) {
        gpcs.push_back(sm.gpc);
        partitions.push_back(sm.partition);
    }
    return {{"description", machine.description},
            {"gpc_of_sm", std::move(gpcs)},
            {"partition_of_sm", std::move(partitions)},
            {"partitions", machine.partitions},
            {"partition_bytes", machine.partition_bytes()},
            {"slices_per_partition", machine.l2.slices_per_partition},
            {"dram_bytes_per_ns", json_of(machine.bandwidth.dram_bytes_per_ns)}};
}

// The same for the standard errors, which are there when not all slices were simulated.
ordered_json errors_json(const std::map<std::string, double>& errors) {
    ordered_json object = ordered_json::object();
    for (const Metric& metric : all_metrics()) {
        const auto found = errors.find(std::string(metric.id));
        if (found != errors.end()) object[found->first] = json_of(found->second);
    }
    return object;
}

ordered_json result_json(const PredictReport& report, const Prediction& prediction, std::size_t rank) {
    ordered_json json{{"order", prediction.order},
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
                        {"jumps", prediction.footprint.jumps}}},
                      {"cause", cause(report, prediction)}};
    if (!prediction.standard_errors.empty())
        json["standard_errors"] = errors_json(prediction.standard_errors);
    if (prediction.details) json["details"] = details_json(report, prediction);
    return json;
}

}  // namespace

ordered_json predict_document(const PredictReport& report) {
    std::vector<std::size_t> rank_of(report.predictions.size());
    const std::vector<std::size_t> ranks = ranking(report.predictions);
    for (std::size_t i = 0; i < ranks.size(); ++i) rank_of[ranks[i]] = i + 1;

    ordered_json results = ordered_json::array();
    for (std::size_t i = 0; i < report.predictions.size(); ++i) {
        results.push_back(result_json(report, report.predictions[i], rank_of[i]));
    }
    return {{"schema", "l2lens/prediction"},     {"schema_version", kPredictionSchemaVersion},
            {"meta", json_of(report.meta)},      {"kernel", kernel_json(report.kernel)},
            {"gpu", report.machine.name},        {"machine", machine_json(report.machine)},
            {"summary", predict_header(report)}, {"advice", advice(report)},
            {"results", std::move(results)}};
}

std::string predict_json(const PredictReport& report) {
    return document_text(predict_document(report));
}

}  // namespace l2lens
