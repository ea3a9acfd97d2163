// SPDX-License-Identifier: Apache-2.0
// What `predict` says, as pure functions of its predictions: a text table with one line of advice, JSON, CSV.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "counters/metrics.hpp"

#include "predict.hpp"

namespace l2lens {

// Who ran what, when, for how long: the `meta` of every JSON document.
struct RunMeta {
    std::string version;
    std::vector<std::string> argv;
    std::string gpu_file;
    std::uint64_t gpu_hash = 0;  // xxHash64 of the file
    std::string date;            // ISO 8601 with zone
    int threads = 1;
    double seconds = 0;
};

struct PredictReport {
    const Machine& machine;
    const Kernel& kernel;
    std::span<const Prediction> predictions;  // as the orders were given
    RunMeta meta;
};

std::string_view mode_name(Mode mode);
std::string_view engine_name(Engine engine);

// Indices into `predictions`, fastest first; equal times keep their places. Of a search, which looks at the
// leading orders by lines and at all others by tiles, those by lines stand first.
std::vector<std::size_t> ranking(std::span<const Prediction> predictions);

// "gemm 8192x8192x8192 ..., on h200: 132 SMs, L2 2 x 29.4 MiB; 64 x 64 tiles, 31.0 waves"
std::string predict_header(const PredictReport& report);
std::string predict_text(const PredictReport& report, bool colour);
std::string predict_json(const PredictReport& report);
std::string predict_csv(const PredictReport& report);

// A metric or counter of a prediction by its id; kUnknown when the run does not know it.
double value_of(const Prediction& prediction, const std::string& id);

// As the outputs have it: counts whole, means, times and cycles to a hundredth, percent and ratios to 1e-4;
// finer digits mean nothing.
double rounded(const Metric& metric, double value);

}  // namespace l2lens
