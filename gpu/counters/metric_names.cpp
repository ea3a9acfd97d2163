// SPDX-License-Identifier: Apache-2.0
#include "gpu/counters/metric_names.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/nearest.hpp"

#include "gpu/counters/cupti.hpp"

namespace l2lens::gpu {
namespace {

constexpr CUpti_MetricType kMetricTypes[] = {CUPTI_METRIC_TYPE_COUNTER, CUPTI_METRIC_TYPE_RATIO,
                                             CUPTI_METRIC_TYPE_THROUGHPUT};

std::vector<std::string> base_metrics(const ProfilerHost& host) {
    std::vector<std::string> names;
    for (const CUpti_MetricType type : kMetricTypes) {
        auto params = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Host_GetBaseMetrics_Params);
        params.pHostObject = host.get();
        params.metricType = type;
        L2LENS_CUPTI(HostGetBaseMetrics, &params);
        names.insert(names.end(), params.ppMetricNames, params.ppMetricNames + params.numMetrics);
    }
    std::sort(names.begin(), names.end());
    return names;
}

std::vector<std::string> roll_ups(const ProfilerHost& host, const std::string& base) {
    auto properties = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);
    properties.pHostObject = host.get();
    properties.pMetricName = base.c_str();
    L2LENS_CUPTI(HostGetMetricProperties, &properties);
    auto params = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Host_GetSubMetrics_Params);
    params.pHostObject = host.get();
    params.metricType = properties.metricType;
    params.pMetricName = base.c_str();
    L2LENS_CUPTI(HostGetSubMetrics, &params);
    std::vector<std::string> names(params.ppSubMetrics, params.ppSubMetrics + params.numOfSubmetrics);
    for (std::string& name : names)
        if (!name.starts_with('.')) name.insert(name.begin(), '.');
    return names;
}

// What most people want: the sum of a counter, the per cent of a ratio.
std::string usual_roll_up(const std::vector<std::string>& known) {
    for (const char* usual : {".sum", ".pct", ".ratio"})
        if (std::find(known.begin(), known.end(), usual) != known.end()) return usual;
    return known.empty() ? "" : known.front();
}

void check_metric_name(const ProfilerHost& host, const std::vector<std::string>& bases,
                       const std::string& metric, const std::string& chip) {
    const auto dot = metric.find('.');
    const std::string base = metric.substr(0, dot);
    if (!std::binary_search(bases.begin(), bases.end(), base)) {
        const std::string near = nearest_name(base, bases);
        throw BadInput(chip + " has no metric '" + base + "'" +
                       (near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
    const auto known = roll_ups(host, base);
    const std::string roll_up = dot == std::string::npos ? "" : metric.substr(dot);
    if (roll_up.empty())
        throw BadInput("metric '" + base + "' needs a roll-up, as in '" + base + usual_roll_up(known) + "'");
    if (std::find(known.begin(), known.end(), roll_up) == known.end()) {
        const std::string near = nearest_name(roll_up, known);
        throw BadInput("metric '" + base + "' of " + chip + " has no roll-up '" + roll_up +
                       "'; did you mean '" + (near.empty() ? usual_roll_up(known) : near) + "'?");
    }
}

}  // namespace

std::vector<std::string> supported_chips() {
    auto params = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Host_GetSupportedChips_Params);
    L2LENS_CUPTI(HostGetSupportedChips, &params);
    return {params.ppChipNames, params.ppChipNames + params.numChips};
}

std::vector<std::string> metrics_of_chip(const std::string& chip) {
    return base_metrics(ProfilerHost(chip));
}

std::string metric_description(const std::string& chip, const std::string& metric) {
    const ProfilerHost host(chip);
    auto params = L2LENS_CUPTI_PARAMS(CUpti_Profiler_Host_GetMetricProperties_Params);
    params.pHostObject = host.get();
    params.pMetricName = metric.c_str();
    L2LENS_CUPTI(HostGetMetricProperties, &params);
    return params.pDescription;
}

void check_metric_names(const std::string& chip, std::span<const std::string> metrics) {
    const ProfilerHost host(chip);
    const auto bases = base_metrics(host);
    for (const std::string& metric : metrics) check_metric_name(host, bases, metric, chip);
}

}  // namespace l2lens::gpu
