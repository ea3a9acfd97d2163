// SPDX-License-Identifier: Apache-2.0
// How far a run of some of the slices may be from a run of all of them.
//
// Two things make it. The slices differ: that is estimated from those that were simulated, by leaving out one
// after the other (the jackknife). And a run of few slices takes a slightly different course, which they all
// share: CTAs wait for the slowest of fewer lines, and so meet in the coalescers a little more or less often.
// That was measured, once for each kind of counter, by running recorded launches with all slices and with
// some (docs/performance.md).
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "counters/metrics.hpp"

namespace l2lens {

// Standard errors of the values of one kind, by id, in the values' units. `lanes` are the events of each of
// the simulated lanes of `all_lanes`, `totals` give the values of all of them together. Empty when all lanes
// were simulated.
std::map<std::string, double> sampling_errors(MetricKind kind, std::span<const Events> lanes, int all_lanes,
                                              const RunTotals& totals);

// The part that slices do not show: relative, or in points for a rate in percent.
double few_slices_error(std::string_view id);

}  // namespace l2lens
