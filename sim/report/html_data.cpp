// SPDX-License-Identifier: Apache-2.0
#include "report/html_data.hpp"

#include <algorithm>
#include <set>

#include "base/units.hpp"
#include "counters/metrics.hpp"

namespace l2lens {
namespace {

using nlohmann::ordered_json;

// An arrow of the memory chart: the sectors of one counter, less those of another.
struct Flow {
    const char* from;
    const char* to;
    const char* what;
    const char* counter;
    const char* less;  // "" for nothing
};
constexpr Flow kFlows[] = {
    {"coalescer", "sm", "delivered", "l1tex__m_xbar2l1tex_read_sectors.sum", ""},
    {"sm", "coalescer", "asked for", "lrc__request_sectors_op_read_coalescable.sum", ""},
    {"coalescer", "coalescer", "merged", "lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum",
     ""},
    {"own", "coalescer", "read", "lrc__lts2lrc_sectors_op_read.sum", ""},
    {"coalescer", "own", "written", "lts__t_sectors_srcunit_tex.sum",
     "lts__t_sectors_srcunit_tex_op_read.sum"},
    {"own", "own", "hit", "lts__t_sectors_srcunit_tex_lookup_hit.sum", ""},
    {"own", "fabric", "over the fabric", "lts__t_sectors_srcunit_ltcfabric.sum", ""},
    {"home", "home", "hit", "lts__t_sectors_srcunit_ltcfabric_lookup_hit.sum", ""},
    {"dram", "home", "fills the other partition", "lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum", ""},
    {"dram", "own", "fills the own partition", "lts__d_sectors_fill_device.sum",
     "lts__t_sectors_srcunit_ltcfabric_lookup_miss.sum"},
    {"dram", "dram", "read", "dram__sectors_read.sum", ""},
    {"home", "dram", "written back", "dram__sectors_write.sum", ""},
};

ordered_json prediction_data(const ReportDocument& document) {
    ordered_json data = document.json;
    data["label"] = document_label(document.json);
    data["file"] = document.name;
    for (ordered_json& result : data["results"]) result["flows"] = memory_flows(result["counters"]);
    return data;
}

// Points of the scatter, counter by counter: measured, predicted, and which row of `labels`.
ordered_json validation_data(const ReportDocument& document) {
    ordered_json labels = ordered_json::array();
    ordered_json points = ordered_json::object();
    for (const Metric& metric : all_metrics()) {
        const std::string id(metric.id);
        if (document.json["summary"].contains(id)) points[id] = ordered_json::array();
    }
    for (const ordered_json& row : document.json["rows"]) {
        std::string label = row["kernel"].get<std::string>();
        for (const auto& [name, value] : row["params"].items())
            label += " " + name + "=" + (value.is_string() ? value.get<std::string>() : value.dump());
        label += " " + row["mode"].get<std::string>() + " " + row["order"].get<std::string>();
        for (auto& [id, list] : points.items()) {
            if (row["measured"].contains(id) && row["predicted"].contains(id))
                list.push_back({row["measured"][id], row["predicted"][id], labels.size()});
        }
        labels.push_back(std::move(label));
    }
    return {{"label", document_label(document.json)},
            {"file", document.name},
            {"summary", document.json["summary"]},
            {"labels", std::move(labels)},
            {"points", std::move(points)}};
}

ordered_json metrics_data() {
    ordered_json metrics = ordered_json::object();
    for (const Metric& metric : all_metrics())
        metrics[std::string(metric.id)] = {{"unit", unit_name(metric.unit)}, {"meaning", metric.meaning}};
    return metrics;
}

}  // namespace

ordered_json memory_flows(const ordered_json& counters) {
    ordered_json flows = ordered_json::array();
    for (const Flow& flow : kFlows) {
        const std::string less(flow.less);
        if (!counters.contains(flow.counter) || (!less.empty() && !counters.contains(less))) continue;
        double sectors = counters[flow.counter].get<double>();
        std::string formula = flow.counter;
        if (!less.empty()) {
            sectors = std::max(0.0, sectors - counters[less].get<double>());
            formula += " - " + less;
        }
        flows.push_back({{"from", flow.from},
                         {"to", flow.to},
                         {"what", flow.what},
                         {"counter", formula},
                         {"bytes", sectors * kSectorBytes}});
    }
    return flows;
}

std::string document_label(const ordered_json& document) {
    const std::string gpu = document["gpu"].get<std::string>();
    if (!document.contains("kernel")) return "validation on " + gpu;
    const ordered_json& kernel = document["kernel"];
    std::string title = kernel["name"].get<std::string>();
    if (kernel.contains("title") && kernel["title"].is_string()) title = kernel["title"].get<std::string>();
    return title + ", on " + gpu;
}

ordered_json html_data(std::span<const ReportDocument> documents) {
    ordered_json predictions = ordered_json::array();
    ordered_json validations = ordered_json::array();
    for (const ReportDocument& document : documents) {
        if (document.kind == ReportDocument::Kind::Prediction) {
            predictions.push_back(prediction_data(document));
        } else {
            validations.push_back(validation_data(document));
        }
    }
    return {{"predictions", std::move(predictions)},
            {"validations", std::move(validations)},
            {"metrics", metrics_data()}};
}

}  // namespace l2lens
