// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "report/advice.hpp"
#include "report/format.hpp"
#include "report/predict_report.hpp"
#include "report/ranked_columns.hpp"
#include "report/text_table.hpp"

namespace l2lens {
namespace {

std::string shown(double value, std::string (*format)(double)) {
    return std::isnan(value) ? "-" : format(value);
}

TextTable empty_table() {
    std::vector<TextTable::Column> columns{{"#", Align::Right}, {"order", Align::Left}};
    for (const RankedColumn& column : kRankedColumns) columns.push_back({column.title, Align::Right});
    columns.push_back({"time", Align::Right});
    columns.push_back({"", Align::Right});  // how much slower than the first
    return TextTable(std::move(columns));
}

Style row_style(std::size_t rank, double slower_pct) {
    if (rank == 1) return Style::Good;
    return slower_pct > 10 ? Style::Bad : Style::Plain;
}

std::string grid_text(const Kernel& kernel) {
    return fmt::format("{}", fmt::join(kernel.grid, " x "));
}

// "64 x 64 tiles, 31.0 waves"; of several launches each one's tiles.
std::string tiles_text(const Kernel& kernel, double waves) {
    std::string text = grid_text(kernel);
    for (const Kernel& next : kernel.then) text += ", then " + grid_text(next);
    text += text == "1 x 1" ? " tile" : " tiles";
    if (kernel.then.empty() && waves > 0) text += fmt::format(", {:.1f} waves", waves);
    return text;
}

std::string l2_text(const Machine& machine) {
    const std::string part = format_binary_bytes(static_cast<double>(machine.partition_bytes()));
    return machine.partitions > 1 ? fmt::format("{} x {}", machine.partitions, part) : part;
}

// What simulating some of the slices may have changed: the largest standard errors among the orders.
std::string sampling_text(const PredictReport& report) {
    double hit = 0, sectors = 0, dram = 0, time = 0;
    int sample = 1;
    for (const Prediction& prediction : report.predictions) {
        if (prediction.standard_errors.empty()) continue;
        const auto relative = [&](const char* id) {
            const auto error = prediction.standard_errors.find(id);
            const double value = value_of(prediction, id);
            return error == prediction.standard_errors.end() || value == 0 ? 0.0
                                                                           : 100 * error->second / value;
        };
        const auto error = prediction.standard_errors.find("l2_hit_rate_pct");
        if (error != prediction.standard_errors.end()) hit = std::max(hit, error->second);
        sectors = std::max(sectors, relative("l2_sectors"));
        dram = std::max(dram, relative("dram_read_bytes"));
        time = std::max(time, relative("time_us"));
        sample = std::max(sample, prediction.sample);
    }
    if (sample == 1) return "";
    return fmt::format(
        "1 in {} slices simulated: standard errors up to {:.1f} points of L2 hit, {:.1f} % of L2 sectors, "
        "{:.1f} % of "
        "DRAM read, {:.1f} % of time (--sample 1: none).\n",
        sample, hit, sectors, dram, time);
}

// ", tile engine"; of a search ", the first 6 by lines, the others by tiles"; of lines alone nothing.
std::string engine_text(std::span<const Prediction> predictions) {
    const auto by_lines = std::count_if(predictions.begin(), predictions.end(),
                                        [](const Prediction& p) { return p.engine == Engine::Line; });
    if (by_lines == std::ssize(predictions)) return "";
    if (by_lines == 0) return ", tile engine";
    return fmt::format(", the first {} by lines, the others by tiles", by_lines);
}

}  // namespace

std::string predict_header(const PredictReport& report) {
    std::string text =
        fmt::format("{}, on {}: {}, L2 {}; {}", report.kernel.title, report.machine.name,
                    counted(std::ssize(report.machine.sms), "SM"), l2_text(report.machine),
                    tiles_text(report.kernel, report.predictions.empty() ? 0 : report.predictions[0].waves));
    if (report.predictions.empty()) return text;
    const Prediction& first = report.predictions.front();
    if (first.mode != Mode::Grid) text += fmt::format(", persistent CTAs ({})", mode_name(first.mode));
    return text + engine_text(report.predictions);
}

std::string predict_text(const PredictReport& report, bool colour) {
    TextTable table = empty_table();
    const std::vector<std::size_t> ranks = ranking(report.predictions);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        const Prediction& prediction = report.predictions[ranks[i]];
        const double slower = 100.0 * (prediction.time_ns / report.predictions[ranks[0]].time_ns - 1);
        std::vector<std::string> cells{std::to_string(i + 1), one_line(prediction.order, 40)};
        for (const RankedColumn& column : kRankedColumns)
            cells.push_back(shown(value_of(prediction, column.id), column.format));
        cells.push_back(format_time(prediction.time_ns));
        cells.push_back(i == 0 ? "" : format_signed_percent(slower));
        table.add_row(std::move(cells), row_style(i + 1, slower));
    }
    return styled(predict_header(report), Style::Bold, colour) + "\n" + table.text(colour) + advice(report) +
           "\n" + sampling_text(report);
}

}  // namespace l2lens
