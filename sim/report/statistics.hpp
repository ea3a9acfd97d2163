// SPDX-License-Identifier: Apache-2.0
// The statistics of a validation.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace l2lens {

// The p-quantile (0 <= p <= 1) with linear interpolation between the order statistics (type 7 of Hyndman and
// Fan, The American Statistician 50, 1996; what NumPy and R do). Values must not be empty.
double percentile(std::span<const double> values, double p);

double mean(std::span<const double> values);

// Errors of one counter over all rows, in percent or in points.
struct ErrorStats {
    std::size_t rows = 0;
    double median_abs = 0;
    double p90_abs = 0;
    double max_abs = 0;
    double mean_abs = 0;
    double bias = 0;  // mean with its sign: above zero, predictions are too high
};

ErrorStats error_stats(std::span<const double> errors);

// Kendall's rank correlation with ties, tau-b (Kendall, Biometrika 33, 1945), 1 for the same order, -1 for
// the reverse, over the pairs that measurement tells apart: those whose measured values differ by `apart` of
// the smaller one or more. Pairs with a value that is not a number are left out, too. None when no pair is
// left; 0 when the predictions of all that are left are tied.
std::optional<double> kendall_tau_apart(std::span<const double> predicted, std::span<const double> measured,
                                        double apart);

}  // namespace l2lens
