// SPDX-License-Identifier: Apache-2.0
// One line of advice with its cause in numbers.
#pragma once

#include <string>

#include "report/predict_report.hpp"

namespace l2lens {

// Orders closer than this in predicted time are not told apart: the model's own error is of this size.
inline constexpr double kSameTimePct = 2.0;

std::string advice(const PredictReport& report);

// Why an order of the report has its rank: the fastest one against what the advice compares it with, any
// other against the fastest.
std::string cause(const PredictReport& report, const Prediction& prediction);

}  // namespace l2lens
