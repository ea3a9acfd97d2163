// SPDX-License-Identifier: Apache-2.0
#include "tile/turn_shares.hpp"

#include <algorithm>
#include <cstddef>

namespace l2lens {
namespace {

// Of a CTA's round only the waits are longer, so that with these in proportion to whom a turn is shared with
// CTAs part less than turns make them: in proportion launches with several CTAs an SM fill 15 % more or less
// than with lines, in the mean over those of traces/h200/gemm.csv and the split fit of gemm_more.csv,
// with 1.5 times what is beyond it 12 %.
constexpr double kBeyondProportion = 1.5;

double beyond_proportion(double longer) {
    return std::max(1 + kBeyondProportion * (longer - 1), 0.0);
}

// Groups of these sizes take turns: how much longer a member of each waits than the mean of all members,
// which are served equally often by group.
std::vector<double> longer_than_mean(const std::vector<double>& sizes) {
    double members = 0, squares = 0;
    for (const double size : sizes) {
        members += size;
        squares += size * size;
    }
    std::vector<double> longer;
    for (const double size : sizes) longer.push_back(squares > 0 ? size * members / squares : 1);
    return longer;
}

}  // namespace

std::vector<TurnShare> turn_shares(const Machine& machine) {
    const auto gpcs = static_cast<std::size_t>(machine.gpcs);
    std::size_t cpcs = 1;
    for (const Sm& sm : machine.sms) cpcs = std::max(cpcs, static_cast<std::size_t>(sm.cpc) + 1);
    std::vector<std::vector<double>> sms_of_gpc(static_cast<std::size_t>(machine.partitions),
                                                std::vector<double>(gpcs, 0));
    std::vector<std::vector<double>> sms_of_cpc(gpcs, std::vector<double>(cpcs, 0));
    for (const Sm& sm : machine.sms) {
        ++sms_of_gpc[static_cast<std::size_t>(sm.partition)][static_cast<std::size_t>(sm.gpc)];
        ++sms_of_cpc[static_cast<std::size_t>(sm.gpc)][static_cast<std::size_t>(sm.cpc)];
    }
    for (auto* groups : {&sms_of_gpc, &sms_of_cpc}) {
        for (std::vector<double>& sizes : *groups) sizes = longer_than_mean(sizes);
    }
    std::vector<TurnShare> shares;
    for (const Sm& sm : machine.sms) {
        const auto gpc = static_cast<std::size_t>(sm.gpc);
        const double cpc = sms_of_cpc[gpc][static_cast<std::size_t>(sm.cpc)];
        const double in_partition = sms_of_gpc[static_cast<std::size_t>(sm.partition)][gpc] * cpc;
        shares.push_back({beyond_proportion(in_partition), beyond_proportion(cpc)});
    }
    return shares;
}

}  // namespace l2lens
