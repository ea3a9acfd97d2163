// SPDX-License-Identifier: Apache-2.0
// Does the model put tile orders in the order in which they run? Judged on groups of rows alike but for the
// order, beside pickers that simulate nothing.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/validation_row.hpp"

namespace l2lens {

// How much slower the orders that somebody picked ran than the fastest ones, percent.
struct RegretStats {
    std::size_t groups = 0;  // in which there was something to pick
    double mean_pct = 0;
    double max_pct = 0;
};

struct RankingStats {
    std::size_t groups = 0;              // of two orders or more
    std::size_t groups_of_5 = 0;         // of five orders or more
    std::size_t groups_in_tau = 0;       // in which some times differ by 1 % or more
    std::size_t groups_in_tau_dram = 0;  // the same for DRAM fill
    // Mean over those groups, pairs that differ by less than 1 % left out; none without any group.
    std::optional<double> kendall_tau_time;
    std::optional<double> kendall_tau_dram;
    RegretStats predicted_best;
    RegretStats always_group_m_16;     // or what is nearest to it in a group
    RegretStats least_predicted_fill;  // the least predicted DRAM fill
};

// Needs the times of both sides; rows without are left out.
RankingStats ranking_stats(std::span<const ValidationRow> rows);

// The place of group_m:16 among `orders`, or of the group_m whose width is nearest to 16 by ratio (the
// narrower of two); without a group_m, the same among serpentine_m, then group_n, then serpentine_n; none
// without any of them.
std::optional<std::size_t> nearest_to_group_m_16(std::span<const std::string> orders);

}  // namespace l2lens
