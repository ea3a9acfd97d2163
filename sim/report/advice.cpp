// SPDX-License-Identifier: Apache-2.0
#include "report/advice.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "report/format.hpp"
#include "report/operands.hpp"

namespace l2lens {
namespace {

double slower_pct(const Prediction& slow, const Prediction& fast) {
    return fast.time_ns > 0 ? 100.0 * (slow.time_ns / fast.time_ns - 1) : 0;
}

std::string shown_name(const Prediction& prediction) {
    return one_line(prediction.order, 40);
}

// CTAs that run at the same time.
std::int64_t wave_size(const PredictReport& report, const Prediction& prediction) {
    const auto tiles = static_cast<double>(report.kernel.tiles());
    const double wave =
        prediction.waves > 0 ? tiles / prediction.waves : static_cast<double>(report.machine.sms.size());
    return std::llround(std::min(wave, tiles));
}

// What the winner is compared with: row_major, which is what a kernel has without any order, or the slowest.
const Prediction& baseline(const PredictReport& report, const std::vector<std::size_t>& ranks) {
    const Prediction& best = report.predictions[ranks.front()];
    for (const Prediction& prediction : report.predictions) {
        if (prediction.order == "row_major" && slower_pct(prediction, best) > kSameTimePct) return prediction;
    }
    return report.predictions[ranks.back()];
}

// Means over waves, to a tenth.
std::string format_lines(double lines) {
    return format_plain(std::round(lines * 10) / 10);
}

// "16 rows of A"
std::string shared_lines(double lines, const char* noun, const SharedOperand& operand) {
    const std::string count = format_lines(lines);
    return fmt::format("{} {}{} of {}", count, noun, count == "1" ? "" : "s", operand.names());
}

// "16 rows of A and 9 columns of B (50 MiB)"
std::string footprint_text(const Operands& operands, const WaveFootprint& wave) {
    std::string text;
    if (!operands.rows.empty()) text = shared_lines(wave.mean_rows, "row", operands.rows);
    if (!operands.columns.empty()) {
        text += (text.empty() ? "" : " and ") + shared_lines(wave.mean_columns, "column", operands.columns);
    }
    return fmt::format("{} ({})", text, format_binary_bytes(operands.wave_bytes(wave)));
}

// "so B comes from DRAM once a wave: 31 times", or "" when DRAM does not say so.
std::string refetch_text(const Operands& operands, const Prediction& slow, const WaveFootprint& fast_wave) {
    const double more_rows = (slow.footprint.mean_rows - fast_wave.mean_rows) * operands.rows.line_bytes;
    const double more_columns =
        (slow.footprint.mean_columns - fast_wave.mean_columns) * operands.columns.line_bytes;
    const SharedOperand& refetched = more_columns > more_rows ? operands.columns : operands.rows;
    if (refetched.tensor_bytes <= 0) return "";
    const double others_once = operands.input_bytes - refetched.tensor_bytes;
    const double times = (value_of(slow, "dram_read_bytes") - others_once) / refetched.tensor_bytes;
    if (!(times >= 1.5)) return "";
    const char* verb = refetched.tensors.size() > 1 ? "come" : "comes";
    if (std::abs(times - slow.waves) < 0.1 * slow.waves) {
        return fmt::format("so {} {} from DRAM once a wave: {:.0f} times", refetched.names(), verb,
                           slow.waves);
    }
    return fmt::format("so {} {} from DRAM {} times", refetched.names(), verb, format_plain(times));
}

// "so it looks up 541 M sectors instead of 429 M", or "" when they are not a hundredth more: they are printed
// to three digits.
std::string lookups_text(const Prediction& best, const Prediction& slow) {
    const double more = value_of(slow, "l2_sectors");
    const double fewer = value_of(best, "l2_sectors");
    if (!(more > 1.01 * fewer)) return "";
    return fmt::format("so it looks up {} sectors instead of {}", format_count(more), format_count(fewer));
}

// Where two orders differ when their footprints do not tell: the traffic itself.
std::string traffic_text(const Prediction& best, const Prediction& slow) {
    const auto pair = [&](const char* id, auto format) {
        return fmt::format("{} against {}", format(value_of(best, id)), format(value_of(slow, id)));
    };
    return fmt::format("{} is {} faster than {}: DRAM reads {}, merged {}, fabric {}.", shown_name(best),
                       format_percent(100.0 - 100.0 * best.time_ns / slow.time_ns), shown_name(slow),
                       pair("dram_read_bytes", format_bytes), pair("merged_pct", format_percent),
                       pair("fabric_pct", format_percent));
}

// Nearly as fast: what is alike, and what differs although it costs nothing.
std::string same_time(const Prediction& best, const Prediction& other) {
    const auto pair = [&](const char* id, auto format) {
        return fmt::format("{} against {}", format(value_of(other, id)), format(value_of(best, id)));
    };
    return fmt::format("{} takes {} longer than {}: DRAM reads {}, merged {}, fabric {}.", shown_name(other),
                       format_percent(slower_pct(other, best)), shown_name(best),
                       pair("dram_read_bytes", format_bytes), pair("merged_pct", format_percent),
                       pair("fabric_pct", format_percent));
}

std::string comparison(const PredictReport& report, const Operands& operands, const Prediction& best,
                       const Prediction& slow) {
    const bool shared = !operands.rows.empty() || !operands.columns.empty();
    const bool wider = operands.wave_bytes(slow.footprint) > 1.1 * operands.wave_bytes(best.footprint);
    if (!shared || !wider) return traffic_text(best, slow);
    std::string consequence = refetch_text(operands, slow, best.footprint);
    if (consequence.empty()) consequence = lookups_text(best, slow);
    if (consequence.empty()) return traffic_text(best, slow);
    const std::string needs = operands.rows.empty() || operands.columns.empty()
                                  ? footprint_text(operands, slow.footprint)
                                  : fmt::format("{} + {} ({})", format_lines(slow.footprint.mean_rows),
                                                format_lines(slow.footprint.mean_columns),
                                                format_binary_bytes(operands.wave_bytes(slow.footprint)));
    return fmt::format("{}: a wave of {} shares {}; {} needs {}, {}.", shown_name(best),
                       counted(wave_size(report, best), "tile"), footprint_text(operands, best.footprint),
                       shown_name(slow), needs, consequence);
}

// All orders take the same time: say why none can help.
std::string no_difference(const PredictReport& report, const Operands& operands, const Prediction& best,
                          const Prediction& slow) {
    const double spread = slower_pct(slow, best);
    if (operands.input_bytes > 0 &&
        operands.input_bytes <= static_cast<double>(report.machine.partition_bytes())) {
        return fmt::format(
            "The inputs ({}) fit the L2 ({}{}): the order does not matter, all {} are within {}.",
            format_binary_bytes(operands.input_bytes),
            format_binary_bytes(static_cast<double>(report.machine.partition_bytes())),
            report.machine.partitions > 1 ? " in each partition" : "", report.predictions.size(),
            format_percent(spread));
    }
    double most_read = 0;
    for (const Prediction& p : report.predictions)
        most_read = std::max(most_read, value_of(p, "dram_read_bytes"));
    const double dram_share = 100.0 * most_read / (report.machine.bandwidth.dram_bytes_per_ns * slow.time_ns);
    return fmt::format(
        "The order does not matter: all {} are within {}, and reading at most {} from DRAM takes {} of the "
        "time.",
        report.predictions.size(), format_percent(spread), format_bytes(most_read),
        format_percent(dram_share));
}

std::string single(const PredictReport& report, const Operands& operands, const Prediction& only) {
    if (operands.rows.empty() && operands.columns.empty()) {
        return fmt::format("{}: reads {} from DRAM; its inputs are {}.", shown_name(only),
                           format_bytes(value_of(only, "dram_read_bytes")),
                           format_bytes(operands.input_bytes));
    }
    return fmt::format("{}: a wave of {} shares {}; the L2 holds {}.", shown_name(only),
                       counted(wave_size(report, only), "tile"), footprint_text(operands, only.footprint),
                       format_binary_bytes(static_cast<double>(report.machine.l2_bytes())));
}

}  // namespace

std::string advice(const PredictReport& report) {
    if (report.predictions.empty()) return "";
    const Operands operands = find_operands(report.kernel);
    const std::vector<std::size_t> ranks = ranking(report.predictions);
    const Prediction& best = report.predictions[ranks.front()];
    if (ranks.size() == 1) return single(report, operands, best);
    const Prediction& slowest = report.predictions[ranks.back()];
    if (slower_pct(slowest, best) <= kSameTimePct) return no_difference(report, operands, best, slowest);
    return comparison(report, operands, best, baseline(report, ranks));
}

std::string cause(const PredictReport& report, const Prediction& prediction) {
    const Prediction& best = report.predictions[ranking(report.predictions).front()];
    if (&best == &prediction) return advice(report);
    if (slower_pct(prediction, best) <= kSameTimePct) return same_time(best, prediction);
    return comparison(report, find_operands(report.kernel), best, prediction);
}

}  // namespace l2lens
