// SPDX-License-Identifier: Apache-2.0
// What a flat LRU and the closed form (distinct boxes per wave) would have said of the same rows: the least
// that a simulation has to beat.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "report/statistics.hpp"
#include "report/validation_row.hpp"

namespace l2lens {

// "flat_lru" or "closed_form", as in the metrics' names, and its errors by metric id.
using SimpleModelErrors = std::map<std::string, std::map<std::string, ErrorStats>>;

// The counters that a simple model has a value for: the hit rate, which it gives, and the DRAM fill, which
// follows from it: the sectors asked for that do not hit.
Counters simple_model_counters(const ValidationRow& row, std::string_view model);

SimpleModelErrors simple_model_errors(std::span<const ValidationRow> rows);

}  // namespace l2lens
