// SPDX-License-Identifier: Apache-2.0
// The `details` of a result: what a report draws of it. Included by .cpp files only.
#pragma once

#include <nlohmann/json.hpp>

#include "report/predict_report.hpp"

namespace l2lens {

// Of a prediction that has details.
nlohmann::ordered_json details_json(const PredictReport& report, const Prediction& prediction);

// 0 .. 63 as a character each: the alphabet of base64.
char digit64(int value);

}  // namespace l2lens
