// SPDX-License-Identifier: Apache-2.0
// The parts that text, JSON and CSV share.
#include "report/predict_report.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace l2lens {

std::string_view mode_name(Mode mode) {
    switch (mode) {
        case Mode::Grid:
            return "grid";
        case Mode::Static:
            return "static";
        case Mode::Dynamic:
            return "dynamic";
    }
    return "";
}

std::string_view engine_name(Engine engine) {
    return engine == Engine::Tile ? "tile" : "line";
}

std::vector<std::size_t> ranking(std::span<const Prediction> predictions) {
    std::vector<std::size_t> order(predictions.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        const Prediction &left = predictions[a], &right = predictions[b];
        if (left.engine != right.engine) return left.engine == Engine::Line;
        return left.time_ns < right.time_ns;
    });
    return order;
}

double value_of(const Prediction& prediction, const std::string& id) {
    for (const auto* values : {&prediction.metrics, &prediction.counters}) {
        if (const auto found = values->find(id); found != values->end()) return found->second;
    }
    return kUnknown;
}

double rounded(const Metric& metric, double value) {
    switch (metric.unit) {
        case MetricUnit::Percent:
        case MetricUnit::Ratio:
            return std::nearbyint(value * 1e4) / 1e4;
        case MetricUnit::Microseconds:
            return std::nearbyint(value * 1e3) / 1e3;
        case MetricUnit::Nanoseconds:
        case MetricUnit::Cycles:
            return std::nearbyint(value * 1e2) / 1e2;
        default:
            break;
    }
    return metric.id.ends_with(".avg") ? std::nearbyint(value * 1e2) / 1e2 : std::nearbyint(value);
}

}  // namespace l2lens
