// SPDX-License-Identifier: Apache-2.0
// A recorded launch, predicted from its parameters alone, on one thread.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "cli/model_run.hpp"
#include "report/predict_report.hpp"
#include "report/recorded_csv.hpp"
#include "support/recorded.hpp"

#include "predict.hpp"

namespace l2lens::test {

inline Prediction predict_launch(const std::string& name, const std::vector<std::string>& arguments,
                                 const std::string& order, Mode mode, const Machine& machine,
                                 PredictOptions options) {
    const Kernel kernel = cli::load_launched(name, arguments, std::string(mode_name(mode)), machine).kernel;
    options.mode = mode;
    SerialExecutor serial;
    return predict(machine, kernel, cli::named_order(order, machine, kernel, mode), options, serial);
}

// A GEMM: `arguments` and, of the row, the parameters that are named, its order and its mode.
inline Prediction predict_row(const RecordedCells& row, const std::vector<std::string>& parameters,
                              const Machine& machine, PredictOptions options,
                              std::vector<std::string> arguments = {}) {
    for (std::string& argument : arguments_of(row, parameters)) arguments.push_back(std::move(argument));
    return predict_launch("gemm", arguments, row.text("order"), parse_mode(row.text("mode")), machine,
                          std::move(options));
}

inline Prediction predict_row(const RecordedRow& row, const Machine& machine, PredictOptions options) {
    std::vector<std::string> arguments;
    for (const auto& [name, value] : row.params) arguments.push_back(name + "=" + value);
    return predict_launch(row.kernel, arguments, row.order, row.mode, machine, std::move(options));
}

}  // namespace l2lens::test
