// SPDX-License-Identifier: Apache-2.0
// What `trace replay` says: the counters of one run, under the same names and as rounded as in a prediction.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "report/predict_report.hpp"

namespace l2lens {

struct ReplayReport {
    std::string trace;  // the file
    std::string gpu;
    std::string kernel;  // "" when the trace does not say; so with the next ones
    std::string title;
    std::vector<std::pair<std::string, std::string>> params;
    std::string order;
    std::string mode;
    int lanes = 0;  // simulated
    int lanes_of = 0;
    std::uint64_t seed = 0;
    std::uint64_t records = 0;
    std::uint64_t requests = 0;
    double last_answer_ns = 0;  // or the last write's arrival, if that is later
    bool complete = true;       // the trace has its end
    std::map<std::string, double> counters;
    std::map<std::string, double> metrics;
    RunMeta meta;
};

std::string replay_text(const ReplayReport& report, bool colour);
std::string replay_json(const ReplayReport& report);
std::string replay_csv(const ReplayReport& report);

}  // namespace l2lens
