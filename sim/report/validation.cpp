// SPDX-License-Identifier: Apache-2.0
#include "report/validation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace l2lens {
namespace {

// The mean of the counters over the readings that have them.
class Repeats {
public:
    void add(const std::map<std::string, double>& measured) {
        ++count_;
        for (const auto& [name, value] : measured) {
            auto& [sum, readings] = sums_[name];
            sum += value;
            ++readings;
        }
    }
    int count() const { return count_; }
    std::map<std::string, double> mean() const {
        std::map<std::string, double> mean;
        for (const auto& [name, sum] : sums_) mean[name] = sum.first / sum.second;
        return mean;
    }

private:
    int count_ = 0;
    std::map<std::string, std::pair<double, int>> sums_;
};

}  // namespace

ValidationPlan plan_validation(const std::vector<RecordedRow>& rows, std::string_view split) {
    ValidationPlan plan;
    plan.recorded_rows = rows.size();
    std::map<RowKey, std::size_t> place_of;
    std::vector<Repeats> repeats;
    for (const RecordedRow& row : rows) {
        if (!split.empty() && row.split != split) {
            ++plan.other_split;
            continue;
        }
        if (row.order == "random") {
            ++plan.skipped_random;
            continue;
        }
        const auto [place, fresh] = place_of.try_emplace(row_key(row), plan.rows.size());
        if (fresh) {
            repeats.emplace_back();
            plan.rows.emplace_back().recorded = row;
        }
        repeats[place->second].add(row.measured);
    }
    for (std::size_t i = 0; i < plan.rows.size(); ++i) {
        plan.rows[i].repeats = repeats[i].count();
        plan.rows[i].recorded.measured = repeats[i].mean();
    }
    return plan;
}

ValidationSummary summarise(std::span<const ValidationRow> rows, std::map<std::string, NoiseStats> noise) {
    ValidationSummary summary;
    summary.noise = std::move(noise);
    for (const Metric& metric : all_metrics()) {
        if (metric.kind != MetricKind::Hardware) continue;
        std::vector<double> errors;
        for (const ValidationRow& row : rows) {
            const double error = prediction_error(row, metric);
            if (!std::isnan(error)) errors.push_back(error);
            if (counted_nothing(row, metric)) ++summary.counted_nothing[std::string(metric.id)];
        }
        if (!errors.empty()) summary.counters.emplace(metric.id, error_stats(errors));
    }
    for (const ValidationRow& row : rows) {
        // Persistent launches run one CTA per SM whatever would fit.
        if (row.recorded.mode != Mode::Grid || !row.recorded.ctas_per_sm) continue;
        ++summary.ctas_checked;
        if (row.predicted_ctas_per_sm != *row.recorded.ctas_per_sm) ++summary.ctas_differ;
    }
    summary.ranking = ranking_stats(rows);
    summary.simple_models = simple_model_errors(rows);
    summary.causes = cause_stats(rows);
    return summary;
}

Verdict judge(const ErrorStats& stats, const Tolerance& tolerance, const NoiseStats* noise) {
    if (stats.rows == 0) return Verdict::Met;
    if (stats.median_abs > tolerance.median.value_or(stats.median_abs)) return Verdict::Outside;
    if (stats.mean_abs > tolerance.mean.value_or(stats.mean_abs)) return Verdict::Outside;
    if (stats.p90_abs <= tolerance.p90.value_or(stats.p90_abs)) return Verdict::Met;
    const bool is_noise = noise != nullptr && stats.p90_abs <= kNoiseAllowance * noise->p90_abs;
    return is_noise ? Verdict::MetWithinNoise : Verdict::Outside;
}

Verdict judge(const ValidationSummary& summary, const std::string& counter, const Tolerance& tolerance) {
    const auto stats = summary.counters.find(counter);
    if (stats == summary.counters.end()) return Verdict::Met;
    const auto noise = summary.noise.find(counter);
    return judge(stats->second, tolerance, noise == summary.noise.end() ? nullptr : &noise->second);
}

std::vector<std::string> outside(const ValidationSummary& summary, const Tolerances& tolerances) {
    std::vector<std::string> names;
    for (const Metric& metric : all_metrics()) {
        const std::string id(metric.id);
        const auto tolerance = tolerances.find(id);
        if (tolerance == tolerances.end()) continue;
        if (judge(summary, id, tolerance->second) == Verdict::Outside) names.push_back(id);
    }
    return names;
}

std::vector<WorstRow> worst_rows(std::span<const ValidationRow> rows, const Metric& metric,
                                 std::size_t count) {
    std::vector<WorstRow> worst;
    for (const ValidationRow& row : rows) {
        const double error = prediction_error(row, metric);
        if (!std::isnan(error)) worst.push_back({&row, error});
    }
    std::stable_sort(worst.begin(), worst.end(), [](const WorstRow& a, const WorstRow& b) {
        return std::abs(a.error) > std::abs(b.error);
    });
    worst.resize(std::min(count, worst.size()));
    return worst;
}

}  // namespace l2lens
