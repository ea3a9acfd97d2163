// SPDX-License-Identifier: Apache-2.0
// What the page's scripts draw: the documents' own figures, and what follows from them. Included by .cpp
// files only.
#pragma once

#include <span>

#include <nlohmann/json.hpp>

#include "report/html_input.hpp"

namespace l2lens {

// {"predictions": [...], "validations": [...], "metrics": {id: {unit, meaning}}}
nlohmann::ordered_json html_data(std::span<const ReportDocument> documents);

// The memory chart's arrows: [{from, to, what, counter, bytes}], those whose counters are known.
nlohmann::ordered_json memory_flows(const nlohmann::ordered_json& counters);

// "gemm 8192x8192x8192 ... on h200"
std::string document_label(const nlohmann::ordered_json& document);

}  // namespace l2lens
