// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/text_table.hpp"
#include "report/validation_report.hpp"

namespace l2lens {
namespace {

std::string with_unit(double error, const Metric& metric) {
    return format_plain(error) + (metric.unit == MetricUnit::Percent ? " pt" : " %");
}

// "1 / 10" for the median and the 90th percentile, "mean 6".
std::string accepted_text(const Tolerance& tolerance) {
    std::string text;
    if (tolerance.median) text = format_plain(*tolerance.median);
    if (tolerance.p90) text += (text.empty() ? "- / " : " / ") + format_plain(*tolerance.p90);
    if (tolerance.mean) text += (text.empty() ? "mean " : ", mean ") + format_plain(*tolerance.mean);
    return text;
}

std::string scoreboard(const ValidationReport& report, bool colour) {
    TextTable table({{"counter", Align::Left},
                     {"rows", Align::Right},
                     {"median", Align::Right},
                     {"p90", Align::Right},
                     {"max", Align::Right},
                     {"mean", Align::Right},
                     {"bias", Align::Right},
                     {"accepted", Align::Left},
                     {"", Align::Left}});
    for (const Metric& metric : all_metrics()) {
        const auto found = report.summary.counters.find(std::string(metric.id));
        if (found == report.summary.counters.end()) continue;
        const ErrorStats& stats = found->second;
        std::vector<std::string> cells{found->first, std::to_string(stats.rows)};
        for (const double error :
             {stats.median_abs, stats.p90_abs, stats.max_abs, stats.mean_abs, stats.bias}) {
            cells.push_back(with_unit(error, metric));
        }
        const auto tolerance = report.tolerances.find(found->first);
        const bool judged = tolerance != report.tolerances.end();
        const bool good = judged && within(stats, tolerance->second);
        cells.push_back(judged ? accepted_text(tolerance->second) : "");
        cells.emplace_back(!judged ? "" : good ? "ok" : "OUTSIDE");
        table.add_row(std::move(cells), !judged ? Style::Plain : good ? Style::Good : Style::Bad);
    }
    return table.text(colour);
}

std::string configuration(const RecordedRow& row) {
    std::string text = row.kernel;
    for (const auto& [name, value] : row.params) text += " " + name + "=" + value;
    return fmt::format("{} {} {}", text, mode_name(row.mode), row.order);
}

// The row furthest off in `metric`.
std::string worst_row(const ValidationReport& report, const Metric& metric) {
    const ValidationRow* worst = nullptr;
    double largest = -1;
    for (const ValidationRow& row : report.plan.rows) {
        const double error = prediction_error(row, metric);
        if (std::isnan(error) || std::abs(error) <= largest) continue;
        largest = std::abs(error);
        worst = &row;
    }
    if (worst == nullptr) return "";
    const std::string id(metric.id);
    const double predicted = worst->predicted.at(id), measured = worst->recorded.measured.at(id);
    return fmt::format("  {}: {} ({}), predicted {}, measured {} ({}{})\n", id,
                       configuration(worst->recorded), worst->recorded.where(),
                       format_exact(rounded(metric, predicted)), format_exact(rounded(metric, measured)),
                       prediction_error(*worst, metric) < 0 ? "" : "+",
                       with_unit(prediction_error(*worst, metric), metric));
}

std::string worst_rows(const ValidationReport& report) {
    std::string text;
    for (const Metric& metric : all_metrics()) {
        if (report.tolerances.count(std::string(metric.id)) != 0) text += worst_row(report, metric);
    }
    return text.empty() ? "" : "furthest off:\n" + text;
}

std::string ranking_text(const RankingStats& ranking) {
    if (ranking.groups == 0) return "ranking: no rows differ in the order alone\n";
    return fmt::format(
        "ranking: {} group{} of rows alike but for the order; Kendall tau {:.2f} by time, {:.2f} by DRAM "
        "fill; the order predicted best ran {} slower than the best one on average, {} at most\n",
        ranking.groups, ranking.groups == 1 ? "" : "s", ranking.kendall_tau_time, ranking.kendall_tau_dram,
        format_percent(ranking.regret_pct_mean), format_percent(ranking.regret_pct_max));
}

std::string header(const ValidationReport& report) {
    const ValidationPlan& plan = report.plan;
    std::string text = fmt::format("{} configurations on {}, from {} recorded rows", plan.rows.size(),
                                   report.gpu, plan.recorded_rows);
    if (plan.skipped_random > 0) text += fmt::format(", {} in random order skipped", plan.skipped_random);
    if (plan.other_split > 0) text += fmt::format(", {} of another split left out", plan.other_split);
    return text;
}

}  // namespace

std::string validation_text(const ValidationReport& report, bool colour) {
    std::string text = styled(header(report), Style::Bold, colour) + "\n" + scoreboard(report, colour) +
                       ranking_text(report.summary.ranking);
    if (report.summary.ctas_checked > 0) {
        text += fmt::format("CTAs per SM: {} of {} as measured\n",
                            report.summary.ctas_checked - report.summary.ctas_differ,
                            report.summary.ctas_checked);
    }
    return text + worst_rows(report);
}

}  // namespace l2lens
