// SPDX-License-Identifier: Apache-2.0
#include "report/ranking.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>

#include "report/statistics.hpp"

namespace l2lens {
namespace {

constexpr const char* kTime = "gpu__time_duration.sum";
constexpr const char* kDramFill = "lts__d_sectors_fill_device.sum";

// Orders whose measured values are nearer than this are not told apart by one measurement (repeats of the
// time differ by 0.8 % at the 90th percentile, traces/h200/README.md).
constexpr double kTiedBelow = 0.01;

struct Group {
    std::vector<std::string> orders;
    std::vector<double> predicted_time, measured_time;
    std::vector<double> predicted_fill, measured_fill;  // kUnknown where it is not known

    std::size_t size() const { return orders.size(); }
};

std::vector<Group> groups_of(std::span<const ValidationRow> rows) {
    std::map<GroupKey, Group> groups;
    for (const ValidationRow& row : rows) {
        const auto predicted = find_counter(row.predicted, kTime);
        const auto measured = find_counter(row.recorded.measured, kTime);
        if (!predicted || !measured) continue;
        Group& group = groups[group_key(row.recorded)];
        group.orders.push_back(row.recorded.order);
        group.predicted_time.push_back(*predicted);
        group.measured_time.push_back(*measured);
        group.predicted_fill.push_back(find_counter(row.predicted, kDramFill).value_or(kUnknown));
        group.measured_fill.push_back(find_counter(row.recorded.measured, kDramFill).value_or(kUnknown));
    }
    std::vector<Group> several;
    for (auto& [key, group] : groups) {
        if (group.size() >= 2) several.push_back(std::move(group));
    }
    return several;
}

double regret_pct(const Group& group, std::size_t picked) {
    const double best = *std::min_element(group.measured_time.begin(), group.measured_time.end());
    return 100.0 * (group.measured_time[picked] / best - 1);
}

// Where the least value is that is known; none when none is.
std::optional<std::size_t> place_of_least(const std::vector<double>& values) {
    std::optional<std::size_t> least;
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (!std::isnan(values[i]) && (!least || values[i] < values[*least])) least = i;
    }
    return least;
}

template <class Pick>
RegretStats regret_of(std::span<const Group> groups, Pick&& pick) {
    std::vector<double> regrets;
    for (const Group& group : groups) {
        if (const std::optional<std::size_t> picked = pick(group))
            regrets.push_back(regret_pct(group, *picked));
    }
    if (regrets.empty()) return {};
    return {regrets.size(), mean(regrets), *std::max_element(regrets.begin(), regrets.end())};
}

// Width of an order `family:G`; 0 when it is of another family.
int width_of(const std::string& order, const std::string& family) {
    if (!order.starts_with(family + ":")) return 0;
    int width = 0;
    const char* const begin = order.data() + family.size() + 1;
    const char* const end = order.data() + order.size();
    const auto [stop, error] = std::from_chars(begin, end, width);
    return error == std::errc{} && stop == end ? width : 0;
}

}  // namespace

std::optional<std::size_t> nearest_to_group_m_16(std::span<const std::string> orders) {
    for (const char* family : {"group_m", "serpentine_m", "group_n", "serpentine_n"}) {
        std::optional<std::size_t> nearest;
        const auto distance = [&](std::size_t i) {
            return std::abs(std::log2(width_of(orders[i], family) / 16.0));
        };
        for (std::size_t i = 0; i < orders.size(); ++i) {
            const int width = width_of(orders[i], family);
            if (width <= 0) continue;
            const bool nearer =
                !nearest || distance(i) < distance(*nearest) ||
                (distance(i) == distance(*nearest) && width < width_of(orders[*nearest], family));
            if (nearer) nearest = i;
        }
        if (nearest) return nearest;
    }
    return std::nullopt;
}

RankingStats ranking_stats(std::span<const ValidationRow> rows) {
    const std::vector<Group> groups = groups_of(rows);
    RankingStats stats;
    std::vector<double> tau_time, tau_dram;
    for (const Group& group : groups) {
        ++stats.groups;
        if (group.size() >= 5) ++stats.groups_of_5;
        if (const auto tau = kendall_tau_apart(group.predicted_time, group.measured_time, kTiedBelow))
            tau_time.push_back(*tau);
        if (const auto tau = kendall_tau_apart(group.predicted_fill, group.measured_fill, kTiedBelow))
            tau_dram.push_back(*tau);
    }
    stats.groups_in_tau = tau_time.size();
    stats.groups_in_tau_dram = tau_dram.size();
    if (!tau_time.empty()) stats.kendall_tau_time = mean(tau_time);
    if (!tau_dram.empty()) stats.kendall_tau_dram = mean(tau_dram);
    stats.predicted_best =
        regret_of(groups, [](const Group& group) { return place_of_least(group.predicted_time); });
    stats.always_group_m_16 =
        regret_of(groups, [](const Group& group) { return nearest_to_group_m_16(group.orders); });
    stats.least_predicted_fill =
        regret_of(groups, [](const Group& group) { return place_of_least(group.predicted_fill); });
    return stats;
}

}  // namespace l2lens
