// SPDX-License-Identifier: Apache-2.0
// Recorded hardware counters, as traces/h200/*.csv have them: one launch a row, the kernel's parameters and
// the counters as columns. What each column is follows from its name; nothing measured is ever an input to a
// prediction.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "predict.hpp"

namespace l2lens {

struct RecordedRow {
    std::string file;
    std::size_t line = 0;
    std::string kernel;
    std::string gpu;                                          // "" when the file does not say
    std::vector<std::pair<std::string, std::string>> params;  // as columns, without empty cells
    Mode mode = Mode::Grid;
    std::string order;
    std::string split;               // "fit", "test", ""
    std::optional<int> ctas_per_sm;  // measured: compared, never used
    std::map<std::string, double> measured;

    std::string where() const { return file + ":" + std::to_string(line); }
};

// Names of a kernel's parameters. Throws BadInput for an unknown kernel.
using ParameterNames = std::function<std::vector<std::string>(const std::string& kernel)>;

// Throws BadInput, "FILE:LINE: what", naming the row and the column.
std::vector<RecordedRow> read_recorded_csv(std::string_view text, const std::string& file,
                                           const ParameterNames& parameter_names);

// "column 'lts__t_sektors.sum' is not compared; did you mean 'lts__t_sectors.sum'?" for each column that
// looks like a slip of the pen: there are counters that nobody predicts, so it is no error.
std::vector<std::string> misspelt_counters(std::span<const RecordedRow> rows);

// Is this the name of a hardware counter ("lts__t_sectors.sum", "TCC_HIT_sum") or of a metric?
bool is_counter_name(std::string_view name);

// "grid", "static" or "dynamic"; throws BadInput with the nearest one.
Mode parse_mode(std::string_view text);

}  // namespace l2lens
