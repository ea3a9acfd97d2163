// SPDX-License-Identifier: Apache-2.0
// `validate --live`: a kernel on the GPU in this machine, in each order and mode, as rows to hold predictions
// against.
#pragma once

#include <string>
#include <vector>

#include "cli/output.hpp"
#include "machine/machine.hpp"
#include "report/recorded_csv.hpp"

namespace l2lens::cli {

struct LiveArguments {
    std::string kernel;
    std::vector<std::string> params;  // param=value
    std::vector<std::string> orders;  // as --order takes them
    std::vector<std::string> modes;   // comma lists
    std::string record;               // "" for none
    std::string record_schedule;
    std::string repeats = "3";
};

// The shipped machine that the GPU is on which measure_live() runs; "" when there is no GPU or no such
// machine.
std::string machine_of_this_gpu();

// Measures everything, then writes --record and --record-schedule. Throws BadInput before anything is
// measured, Unavailable when there is no GPU or it gives no counters.
std::vector<RecordedRow> measure_live(const LiveArguments& arguments, const Machine& machine,
                                      const Output& output);

}  // namespace l2lens::cli
