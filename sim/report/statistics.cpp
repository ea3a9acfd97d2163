// SPDX-License-Identifier: Apache-2.0
#include "report/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <stdexcept>
#include <vector>

namespace l2lens {

double percentile(std::span<const double> values, double p) {
    if (values.empty()) throw std::logic_error("percentile of nothing");
    std::vector<double> sorted(values.begin(), values.end());
    std::sort(sorted.begin(), sorted.end());
    const double position = p * static_cast<double>(sorted.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const std::size_t above = std::min(below + 1, sorted.size() - 1);
    const double fraction = position - static_cast<double>(below);
    return sorted[below] + fraction * (sorted[above] - sorted[below]);
}

double mean(std::span<const double> values) {
    if (values.empty()) throw std::logic_error("mean of nothing");
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

ErrorStats error_stats(std::span<const double> errors) {
    if (errors.empty()) return {};
    std::vector<double> sizes;
    for (const double error : errors) sizes.push_back(std::abs(error));
    return {.rows = errors.size(),
            .median_abs = percentile(sizes, 0.5),
            .p90_abs = percentile(sizes, 0.9),
            .max_abs = *std::max_element(sizes.begin(), sizes.end()),
            .mean_abs = mean(sizes),
            .bias = mean(errors)};
}

namespace {

// Kendall's tau-b over the pairs (i, j) that `counts`; none when there is no such pair.
template <class Counts>
std::optional<double> tau_b(std::span<const double> a, std::span<const double> b, Counts&& counts) {
    if (a.size() != b.size()) throw std::logic_error("Kendall's tau needs pairs");
    double balance = 0;  // concordant pairs less discordant ones
    double untied_a = 0, untied_b = 0;
    bool any = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        for (std::size_t j = i + 1; j < a.size(); ++j) {
            if (!counts(i, j)) continue;
            any = true;
            const int order_a = (a[i] < a[j]) - (a[j] < a[i]);
            const int order_b = (b[i] < b[j]) - (b[j] < b[i]);
            balance += order_a * order_b;
            untied_a += order_a != 0 ? 1 : 0;
            untied_b += order_b != 0 ? 1 : 0;
        }
    }
    if (!any) return std::nullopt;
    const double pairs = std::sqrt(untied_a) * std::sqrt(untied_b);
    return pairs > 0 ? balance / pairs : 0;
}

}  // namespace

double kendall_tau(std::span<const double> a, std::span<const double> b) {
    return tau_b(a, b, [](std::size_t, std::size_t) { return true; }).value_or(0);
}

std::optional<double> kendall_tau_apart(std::span<const double> predicted, std::span<const double> measured,
                                        double apart) {
    return tau_b(predicted, measured, [&](std::size_t i, std::size_t j) {
        if (std::isnan(predicted[i] + predicted[j] + measured[i] + measured[j])) return false;
        return std::abs(measured[i] - measured[j]) >= apart * std::min(measured[i], measured[j]);
    });
}

}  // namespace l2lens
