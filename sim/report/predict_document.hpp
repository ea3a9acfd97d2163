// SPDX-License-Identifier: Apache-2.0
// The document "l2lens/prediction" before it is text. Included by .cpp files only.
#pragma once

#include <nlohmann/json.hpp>

#include "report/predict_report.hpp"

namespace l2lens {

nlohmann::ordered_json predict_document(const PredictReport& report);

}  // namespace l2lens
