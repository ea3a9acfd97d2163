// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <optional>

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

// Median and 90th percentile of the deviation between readings of one launch.
std::string noise_text(const ValidationSummary& summary, const Metric& metric) {
    const auto noise = summary.noise.find(std::string(metric.id));
    if (noise == summary.noise.end()) return "";
    return format_plain(noise->second.median_abs) + " / " + with_unit(noise->second.p90_abs, metric);
}

const char* verdict_text(Verdict verdict) {
    switch (verdict) {
        case Verdict::Met:
            return "ok";
        case Verdict::MetWithinNoise:
            return "ok, p90 is noise";
        case Verdict::Outside:
            break;
    }
    return "OUTSIDE";
}

std::string scoreboard(const ValidationReport& report, bool colour) {
    TextTable table({{"counter", Align::Left},
                     {"rows", Align::Right},
                     {"median", Align::Right},
                     {"p90", Align::Right},
                     {"max", Align::Right},
                     {"mean", Align::Right},
                     {"bias", Align::Right},
                     {"noise", Align::Right},
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
        cells.push_back(noise_text(report.summary, metric));
        const auto tolerance = report.tolerances.find(found->first);
        const bool judged = tolerance != report.tolerances.end();
        const Verdict verdict =
            judged ? judge(report.summary, found->first, tolerance->second) : Verdict::Met;
        cells.push_back(judged ? accepted_text(tolerance->second) : "");
        cells.emplace_back(judged ? verdict_text(verdict) : "");
        table.add_row(std::move(cells), !judged                       ? Style::Plain
                                        : verdict == Verdict::Outside ? Style::Bad
                                                                      : Style::Good);
    }
    return table.text(colour);
}

std::string configuration(const RecordedRow& row) {
    std::string text = row.kernel;
    for (const auto& [name, value] : row.params) text += " " + name + "=" + value;
    return fmt::format("{} {} {}", text, mode_name(row.mode), row.order);
}

std::string signed_with_unit(double error, const Metric& metric) {
    return (error < 0 ? "" : "+") + with_unit(error, metric);
}

// ": schedule +3 %, memory -8 %" where a recorded schedule tells them apart.
std::string causes_text(const ValidationRow& row, const Metric& metric) {
    const auto causes = causes_of(row, metric);
    if (!causes) return "";
    return fmt::format(": schedule {}, memory {}", signed_with_unit(causes->schedule, metric),
                       signed_with_unit(causes->memory, metric));
}

std::string worst_row(const ValidationReport& report, const Metric& metric) {
    const std::vector<WorstRow> worst = worst_rows(report.plan.rows, metric, 1);
    if (worst.empty()) return "";
    const ValidationRow& row = *worst.front().row;
    const std::string id(metric.id);
    const double predicted = row.predicted.at(id), measured = row.recorded.measured.at(id);
    return fmt::format("  {}: {} ({}), predicted {}, measured {} ({}){}\n", id, configuration(row.recorded),
                       row.recorded.where(), format_exact(rounded(metric, predicted)),
                       format_exact(rounded(metric, measured)), signed_with_unit(worst.front().error, metric),
                       causes_text(row, metric));
}

std::string furthest_off(const ValidationReport& report) {
    std::string text;
    for (const Metric& metric : all_metrics()) {
        if (report.tolerances.count(std::string(metric.id)) != 0) text += worst_row(report, metric);
    }
    return text.empty() ? "" : "furthest off:\n" + text;
}

// The errors' parts over the rows of a recorded schedule.
std::string causes_table(const ValidationReport& report, bool colour) {
    if (report.summary.causes.empty()) return "";
    TextTable table({{"errors under a recorded schedule, median", Align::Left},
                     {"rows", Align::Right},
                     {"schedule's part", Align::Right},
                     {"memory's part", Align::Right}});
    for (const Metric& metric : all_metrics()) {
        const auto found = report.summary.causes.find(std::string(metric.id));
        if (found == report.summary.causes.end()) continue;
        const CauseStats& stats = found->second;
        table.add_row({found->first, std::to_string(stats.rows), with_unit(stats.median_schedule, metric),
                       with_unit(stats.median_memory, metric)});
    }
    return table.text(colour);
}

// Without a pair of orders that measurement tells apart there is nothing to say.
std::string tau_text(std::optional<double> tau) {
    return tau ? fmt::format("{:.2f}", *tau) : "-";
}

std::string ranking_text(const RankingStats& ranking) {
    if (ranking.groups == 0) return "ranking: no rows differ in the order alone\n";
    return fmt::format(
        "ranking: {} group{} of rows alike but for the order, {} of five orders or more; Kendall tau {} "
        "by time, {} by DRAM fill\n",
        ranking.groups, ranking.groups == 1 ? "" : "s", ranking.groups_of_5,
        tau_text(ranking.kendall_tau_time), tau_text(ranking.kendall_tau_dram));
}

// How much slower than the best order of its group what each picker picks ran.
std::string pickers_table(const RankingStats& ranking, bool colour) {
    TextTable table({{"order picked in each group", Align::Left},
                     {"groups", Align::Right},
                     {"slower than the best by", Align::Right},
                     {"at most", Align::Right}});
    const auto add = [&](const char* name, const RegretStats& regret) {
        if (regret.groups == 0) return;
        table.add_row({name, std::to_string(regret.groups), fmt::format("{:.2f} %", regret.mean_pct),
                       fmt::format("{:.2f} %", regret.max_pct)});
    };
    add("predicted best", ranking.predicted_best);
    add("least predicted DRAM fill", ranking.least_predicted_fill);
    add("group_m:16, or the nearest", ranking.always_group_m_16);
    return ranking.groups == 0 ? "" : table.text(colour);
}

std::string simple_models_table(const SimpleModelErrors& models, bool colour) {
    TextTable table({{"simpler model", Align::Left},
                     {"counter", Align::Left},
                     {"rows", Align::Right},
                     {"median", Align::Right},
                     {"p90", Align::Right},
                     {"max", Align::Right},
                     {"bias", Align::Right}});
    for (const auto& [model, errors] : models) {
        for (const auto& [id, stats] : errors) {
            std::vector<std::string> cells{model == "flat_lru" ? "flat LRU" : "closed form", id,
                                           std::to_string(stats.rows)};
            for (const double error : {stats.median_abs, stats.p90_abs, stats.max_abs, stats.bias})
                cells.push_back(with_unit(error, *find_metric(id)));
            table.add_row(std::move(cells));
        }
    }
    return models.empty() ? "" : table.text(colour);
}

// Of what was counted as 0 there is no error in percent.
std::string counted_nothing_text(const ValidationSummary& summary) {
    std::string text;
    for (const auto& [id, rows] : summary.counted_nothing)
        text += fmt::format("{}{} in {} row{}", text.empty() ? "" : ", ", id, rows, rows == 1 ? "" : "s");
    return text.empty() ? "" : "left out, since 0 was counted and more is predicted: " + text + "\n";
}

std::string header(const ValidationReport& report) {
    const ValidationPlan& plan = report.plan;
    std::string text =
        fmt::format("{} on {}, from {}", counted(std::ssize(plan.rows), "configuration"), report.gpu,
                    counted(static_cast<std::int64_t>(plan.recorded_rows), "recorded row"));
    if (plan.skipped_random > 0) text += fmt::format(", {} in random order skipped", plan.skipped_random);
    if (plan.other_split > 0) text += fmt::format(", {} of another split left out", plan.other_split);
    return text;
}

}  // namespace

std::string validation_text(const ValidationReport& report, bool colour) {
    std::string text = styled(header(report), Style::Bold, colour) + "\n" + scoreboard(report, colour) +
                       causes_table(report, colour) + ranking_text(report.summary.ranking) +
                       pickers_table(report.summary.ranking, colour) +
                       simple_models_table(report.summary.simple_models, colour);
    if (report.summary.ctas_checked > 0) {
        text += fmt::format("CTAs per SM: {} of {} as measured\n",
                            report.summary.ctas_checked - report.summary.ctas_differ,
                            report.summary.ctas_checked);
    }
    return text + counted_nothing_text(report.summary) + furthest_off(report);
}

}  // namespace l2lens
