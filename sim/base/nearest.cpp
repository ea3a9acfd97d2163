// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace l2lens {

std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> row(b.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = row[0];
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
            diagonal = row[j];
            row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
        }
    }
    return row.back();
}

std::string nearest_name(std::string_view word, std::span<const std::string> candidates) {
    std::string best;
    std::size_t best_distance = std::max<std::size_t>(word.size() / 3, 1) + 1;
    for (const std::string& candidate : candidates) {
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best_distance) {
            best_distance = distance;
            best = candidate;
        }
    }
    return best;
}

std::string suggestion(std::string_view word, std::span<const std::string> candidates) {
    std::string longer;  // h100-sxm and h100-pcie of h100
    for (const std::string& candidate : candidates) {
        if (candidate.starts_with(std::string(word) + "-"))
            longer += (longer.empty() ? "'" : " or '") + candidate + "'";
    }
    const std::string nearest = nearest_name(word, candidates);
    if (longer.empty() && !nearest.empty()) longer = "'" + nearest + "'";
    if (!longer.empty()) return "; did you mean " + longer + "?";
    std::string text = "; there are:";
    for (const std::string& candidate : candidates) text += " " + candidate;
    return text;
}

}  // namespace l2lens
