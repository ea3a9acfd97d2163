// SPDX-License-Identifier: Apache-2.0
// What `validate` says, as pure functions: a scoreboard, JSON, CSV.
#pragma once

#include <string>
#include <vector>

#include "report/predict_report.hpp"
#include "report/validation.hpp"

namespace l2lens {

struct ValidationReport {
    const ValidationPlan& plan;
    const ValidationSummary& summary;
    const Tolerances& tolerances;
    std::string gpu;
    RunMeta meta;
};

std::string validation_text(const ValidationReport& report, bool colour);

// Each row's main counters: predicted, measured, difference, and whether one row may be that far off.
std::string validation_rows_text(const ValidationReport& report, bool colour);

std::string validation_json(const ValidationReport& report);

// Tidy: one line for each row and counter, with the predicted and the measured value and the error.
std::string validation_csv(const ValidationReport& report);

}  // namespace l2lens
