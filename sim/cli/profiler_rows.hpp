// SPDX-License-Identifier: Apache-2.0
// `validate --ncu` and `--rocprof`: launches that another profiler counted, as rows to hold predictions
// against.
#pragma once

#include <string>
#include <vector>

#include "cli/output.hpp"
#include "machine/machine.hpp"
#include "report/recorded_csv.hpp"

namespace l2lens::cli {

struct ProfilerArguments {
    std::vector<std::string> ncu;      // files of `ncu --csv`
    std::vector<std::string> rocprof;  // files of rocprofv3: the passes of one program
    std::vector<std::string> as;       // launch_map.hpp
    std::string map;
};

// Launches that no rule matches are listed on stderr. Throws BadInput when none is left.
std::vector<RecordedRow> read_profiled(const ProfilerArguments& arguments, const Machine& machine,
                                       const Output& output);

}  // namespace l2lens::cli
