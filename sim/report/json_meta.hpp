// SPDX-License-Identifier: Apache-2.0
// What the JSON documents have in common. Included by .cpp files only.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "report/predict_report.hpp"

namespace l2lens {

// The version of the documents: the first number rises when a key changes or goes, the second when one is
// added.
inline constexpr const char* kSchemaVersion = "1.0.0";
// 1.1: title, grid and tensors of the kernel, the machine's SMs, advice, the cause of each rank, details.
inline constexpr const char* kPredictionSchemaVersion = "1.1.0";

nlohmann::ordered_json json_of(const RunMeta& meta);

// Parameters as an object; what reads as a number is one.
nlohmann::ordered_json json_of(const std::vector<std::pair<std::string, std::string>>& params);

// A value as JSON has it: whole numbers without a fraction, what is not finite as null.
nlohmann::ordered_json json_of(double value);

// Indented text with a newline at the end; a list of numbers is one line. Bytes that are no UTF-8 are
// replaced.
std::string document_text(const nlohmann::ordered_json& document);

}  // namespace l2lens
