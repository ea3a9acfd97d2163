// SPDX-License-Identifier: Apache-2.0
// A few measured launches line by line: what was predicted, what was measured, and whether one row may be
// that far off. The scoreboard over all rows is validation_text.cpp's.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/text_table.hpp"
#include "report/validation_report.hpp"

namespace l2lens {
namespace {

constexpr const char* kFill = "lts__d_sectors_fill_device.sum";
constexpr const char* kDramRead = "dram__bytes_read.sum";

// What a tile order changes, in the order of a request's way. What else has a tolerance is shown too.
constexpr std::array<std::string_view, 6> kMain{"lts__t_sectors.sum",
                                                "lts__t_sectors_srcunit_tex.sum",
                                                "lts__t_sectors_srcunit_ltcfabric.sum",
                                                kFill,
                                                "lts__t_sector_hit_rate.pct",
                                                "gpu__time_duration.sum"};

bool is_shown(const ValidationRow& row, const Metric& metric, const Tolerances& tolerances) {
    if (tolerances.count(std::string(metric.id)) != 0) return true;
    // Other profilers' usual sets have the bytes from DRAM, but not the sectors filled.
    if (metric.id == kDramRead) return row.recorded.measured.count(kFill) == 0;
    return std::find(kMain.begin(), kMain.end(), metric.id) != kMain.end();
}

// How far one row may be off: the limit of the 90th percentile where there is one.
std::optional<double> row_limit(const Tolerances& tolerances, const std::string& id) {
    const auto found = tolerances.find(id);
    if (found == tolerances.end()) return std::nullopt;
    const Tolerance& tolerance = found->second;
    if (tolerance.p90) return tolerance.p90;
    return tolerance.mean ? tolerance.mean : tolerance.median;
}

std::string value_with_unit(double value, MetricUnit unit) {
    switch (unit) {
        case MetricUnit::Percent:
            return format_percent(value);
        case MetricUnit::Nanoseconds:
            return format_time(value);
        case MetricUnit::Bytes:
            return format_bytes(value);
        default:
            return format_count(value);
    }
}

std::string difference_text(double error, const Metric& metric) {
    if (std::isnan(error)) return "";
    if (metric.unit == MetricUnit::Percent) return fmt::format("{:+.1f} pt", error);
    return fmt::format("{:+.1f} %", error);
}

std::string parameters(const RecordedRow& row) {
    std::string text = row.kernel;
    for (const auto& [name, value] : row.params) text += " " + name + "=" + value;
    return text;
}

// Rows alike but for order and mode need their parameters said only once.
bool parameters_differ(const ValidationPlan& plan) {
    const auto differs = [&](const ValidationRow& row) {
        return parameters(row.recorded) != parameters(plan.rows.front().recorded);
    };
    return std::any_of(plan.rows.begin(), plan.rows.end(), differs);
}

TextTable empty_table() {
    return TextTable({{"kernel", Align::Left},
                      {"order", Align::Left},
                      {"mode", Align::Left},
                      {"counter", Align::Left},
                      {"predicted", Align::Right},
                      {"measured", Align::Right},
                      {"difference", Align::Right},
                      {"verdict", Align::Left}});
}

void add_lines(TextTable& table, const ValidationRow& row, const Tolerances& tolerances, bool with_kernel) {
    std::vector<std::string> name{with_kernel ? parameters(row.recorded) : "", row.recorded.order,
                                  std::string(mode_name(row.recorded.mode))};
    for (const Metric& metric : all_metrics()) {
        const std::string id(metric.id);
        const auto predicted = row.predicted.find(id), measured = row.recorded.measured.find(id);
        if (predicted == row.predicted.end() || measured == row.recorded.measured.end()) continue;
        if (!is_shown(row, metric, tolerances)) continue;
        const double error = prediction_error(row, metric);
        const auto limit = row_limit(tolerances, id);
        const bool judged = limit && !std::isnan(error);
        const bool good = judged && std::abs(error) <= *limit;
        std::vector<std::string> cells = name;
        cells.push_back(id);
        cells.push_back(value_with_unit(predicted->second, metric.unit));
        cells.push_back(value_with_unit(measured->second, metric.unit));
        cells.push_back(difference_text(error, metric));
        cells.emplace_back(!judged ? "" : good ? "ok" : "OFF");
        table.add_row(std::move(cells), !judged ? Style::Plain : good ? Style::Good : Style::Bad);
        std::fill(name.begin(), name.end(), "");
    }
}

}  // namespace

std::string validation_rows_text(const ValidationReport& report, bool colour) {
    const ValidationPlan& plan = report.plan;
    if (plan.rows.empty()) return "";
    const bool several = parameters_differ(plan);
    TextTable table = empty_table();
    for (const ValidationRow& row : plan.rows) add_lines(table, row, report.tolerances, several);
    const std::string title = several ? "" : parameters(plan.rows.front().recorded) + "\n";
    return styled(title, Style::Bold, colour) + table.text(colour) + "\n";
}

}  // namespace l2lens
