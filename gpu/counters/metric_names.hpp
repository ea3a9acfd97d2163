// SPDX-License-Identifier: Apache-2.0
// The counters a chip has, by CUPTI's own lists. Needs CUPTI but no GPU, so a misspelt metric is found on any
// machine.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace l2lens::gpu {

// The chips CUPTI knows ("GV100", "GA100", "GH100", "GB100", ...).
std::vector<std::string> supported_chips();

// The base metrics of a chip ("lts__t_sectors"): counters, ratios and throughputs, sorted.
std::vector<std::string> metrics_of_chip(const std::string& chip);

// CUPTI's one-line description of a metric.
std::string metric_description(const std::string& chip, const std::string& metric);

// Throws BadInput for the first name the chip does not have ("lts__t_sector.sum"), with the nearest one: base
// name and roll-up (.sum, .avg, .avg.pct_of_peak_sustained_elapsed) are both checked.
void check_metric_names(const std::string& chip, std::span<const std::string> metrics);

}  // namespace l2lens::gpu
