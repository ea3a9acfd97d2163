// SPDX-License-Identifier: Apache-2.0
#include "report/validation.hpp"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace l2lens {
namespace {

constexpr const char* kTime = "gpu__time_duration.sum";
constexpr const char* kDramFill = "lts__d_sectors_fill_device.sum";

using Params = std::vector<std::pair<std::string, std::string>>;

// Everything but the order, and everything.
using GroupKey = std::tuple<std::string, std::string, Params, Mode>;
using RowKey = std::tuple<GroupKey, std::string>;

GroupKey group_key(const RecordedRow& row) {
    Params sorted = row.params;  // files may name the columns in another order
    std::sort(sorted.begin(), sorted.end());
    return {row.kernel, row.gpu, std::move(sorted), row.mode};
}

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

struct Group {
    std::vector<double> predicted_time, measured_time, predicted_dram, measured_dram;
};

std::optional<double> find(const std::map<std::string, double>& values, const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional(found->second);
}

// Below one in ten thousand of the L2's sectors a count is noise (a few hundred promoted sectors in a row
// that promotes none, say). Where both sides say that nothing happens, there is no error to speak of.
bool is_noise(const ValidationRow& row, const Metric& metric, double predicted, double measured) {
    const bool counts = metric.unit == MetricUnit::Sectors || metric.unit == MetricUnit::Requests;
    const auto sectors = find(row.recorded.measured, "lts__t_sectors.sum");
    return counts && sectors && std::max(predicted, measured) < 1e-4 * *sectors;
}

std::vector<Group> ranking_groups(std::span<const ValidationRow> rows) {
    std::map<GroupKey, Group> groups;
    for (const ValidationRow& row : rows) {
        const auto predicted = find(row.predicted, kTime), measured = find(row.recorded.measured, kTime);
        if (!predicted || !measured) continue;
        Group& group = groups[group_key(row.recorded)];
        group.predicted_time.push_back(*predicted);
        group.measured_time.push_back(*measured);
        const auto predicted_fill = find(row.predicted, kDramFill),
                   measured_fill = find(row.recorded.measured, kDramFill);
        if (!predicted_fill || !measured_fill) continue;
        group.predicted_dram.push_back(*predicted_fill);
        group.measured_dram.push_back(*measured_fill);
    }
    std::vector<Group> several;
    for (auto& [key, group] : groups) {
        if (group.measured_time.size() >= 2) several.push_back(std::move(group));
    }
    return several;
}

double regret_pct(const Group& group) {
    const auto best = std::min_element(group.predicted_time.begin(), group.predicted_time.end());
    const double chosen = group.measured_time[static_cast<std::size_t>(best - group.predicted_time.begin())];
    return 100.0 * (chosen / *std::min_element(group.measured_time.begin(), group.measured_time.end()) - 1);
}

RankingStats ranking_stats(std::span<const ValidationRow> rows) {
    std::vector<double> tau_time, tau_dram, regrets;
    for (const Group& group : ranking_groups(rows)) {
        tau_time.push_back(kendall_tau(group.predicted_time, group.measured_time));
        regrets.push_back(regret_pct(group));
        if (group.measured_dram.size() >= 2)
            tau_dram.push_back(kendall_tau(group.predicted_dram, group.measured_dram));
    }
    RankingStats stats;
    stats.groups = tau_time.size();
    if (tau_time.empty()) return stats;
    stats.kendall_tau_time = mean(tau_time);
    stats.kendall_tau_dram = tau_dram.empty() ? 0 : mean(tau_dram);
    stats.regret_pct_mean = mean(regrets);
    stats.regret_pct_max = *std::max_element(regrets.begin(), regrets.end());
    return stats;
}

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
        const auto [place, fresh] = place_of.try_emplace({group_key(row), row.order}, plan.rows.size());
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

double prediction_error(const ValidationRow& row, const Metric& metric) {
    const std::string id(metric.id);
    const auto predicted = row.predicted.find(id);
    const auto measured = row.recorded.measured.find(id);
    if (predicted == row.predicted.end() || measured == row.recorded.measured.end()) return kUnknown;
    if (metric.unit == MetricUnit::Percent) return predicted->second - measured->second;
    if (measured->second == 0 || is_noise(row, metric, predicted->second, measured->second)) return kUnknown;
    return 100.0 * (predicted->second / measured->second - 1);
}

ValidationSummary summarise(std::span<const ValidationRow> rows) {
    ValidationSummary summary;
    for (const Metric& metric : all_metrics()) {
        if (metric.kind != MetricKind::Hardware) continue;
        std::vector<double> errors;
        for (const ValidationRow& row : rows) {
            const double error = prediction_error(row, metric);
            if (!std::isnan(error)) errors.push_back(error);
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
    return summary;
}

bool within(const ErrorStats& stats, const Tolerance& tolerance) {
    if (stats.rows == 0) return true;
    return stats.median_abs <= tolerance.median.value_or(stats.median_abs) &&
           stats.p90_abs <= tolerance.p90.value_or(stats.p90_abs) &&
           stats.mean_abs <= tolerance.mean.value_or(stats.mean_abs);
}

std::vector<std::string> outside(const ValidationSummary& summary, const Tolerances& tolerances) {
    std::vector<std::string> names;
    for (const Metric& metric : all_metrics()) {
        const std::string id(metric.id);
        const auto tolerance = tolerances.find(id);
        const auto stats = summary.counters.find(id);
        if (tolerance == tolerances.end() || stats == summary.counters.end()) continue;
        if (!within(stats->second, tolerance->second)) names.push_back(id);
    }
    return names;
}

}  // namespace l2lens
