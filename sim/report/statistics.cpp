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

std::optional<double> kendall_tau_apart(std::span<const double> predicted, std::span<const double> measured,
                                        double apart) {
    if (predicted.size() != measured.size()) throw std::logic_error("Kendall's tau needs pairs");
    double balance = 0;  // concordant pairs less discordant ones
    double untied_predicted = 0, untied_measured = 0;
    bool any = false;
    for (std::size_t i = 0; i < predicted.size(); ++i) {
        for (std::size_t j = i + 1; j < predicted.size(); ++j) {
            if (std::isnan(predicted[i] + predicted[j] + measured[i] + measured[j])) continue;
            if (std::abs(measured[i] - measured[j]) < apart * std::min(measured[i], measured[j])) continue;
            any = true;
            const int order_p = (predicted[i] < predicted[j]) - (predicted[j] < predicted[i]);
            const int order_m = (measured[i] < measured[j]) - (measured[j] < measured[i]);
            balance += order_p * order_m;
            untied_predicted += order_p != 0 ? 1 : 0;
            untied_measured += order_m != 0 ? 1 : 0;
        }
    }
    if (!any) return std::nullopt;
    const double pairs = std::sqrt(untied_predicted) * std::sqrt(untied_measured);
    return pairs > 0 ? balance / pairs : 0;
}

}  // namespace l2lens
