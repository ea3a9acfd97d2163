// SPDX-License-Identifier: Apache-2.0
#include "report/schedule_csv.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "report/csv.hpp"
#include "report/format.hpp"
#include "report/predict_report.hpp"

namespace l2lens {
namespace {

const std::vector<std::string>& columns() {
    static const std::vector<std::string> kColumns{"run", "launch_id", "sm", "start_ns", "end_ns"};
    return kColumns;
}

// A second: longer than the launches worth simulating, and short enough that a replay of microseconds taken
// for nanoseconds ends.
constexpr double kLongestNs = 1e9;

// Where each of columns() is in the file's header.
std::array<std::size_t, 5> places_of_columns(const CsvTable& table, const std::string& file) {
    for (const std::string& name : table.columns) {
        if (std::find(columns().begin(), columns().end(), name) == columns().end()) {
            throw BadInput(fmt::format("{}:1: column '{}' is not of a schedule{}", file, name,
                                       suggestion(name, columns())));
        }
    }
    std::array<std::size_t, 5> places{};
    for (std::size_t i = 0; i < columns().size(); ++i) {
        const auto found = std::find(table.columns.begin(), table.columns.end(), columns()[i]);
        if (found == table.columns.end())
            throw BadInput(fmt::format("{}:1: no column '{}'", file, columns()[i]));
        places[i] = static_cast<std::size_t>(found - table.columns.begin());
    }
    return places;
}

// A number from 0 to `most` in one of columns().
double number(const std::string& text, const std::string& column, double most, const std::string& where) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        throw BadInput(fmt::format("{}: column '{}': '{}' is not a number", where, column, text));
    if (value < 0 || value > most)
        throw BadInput(
            fmt::format("{}: column '{}': {} is not between 0 and {:.0f}", where, column, text, most));
    return value;
}

std::int64_t whole_number(const std::string& text, const std::string& column, double most,
                          const std::string& where) {
    const double value = number(text, column, most, where);
    if (value != std::nearbyint(value))
        throw BadInput(fmt::format("{}: column '{}': '{}' is not a whole number", where, column, text));
    return static_cast<std::int64_t>(value);
}

RecordedRun& run_named(std::vector<RecordedRun>& runs, const std::string& name, const std::string& file,
                       std::size_t line) {
    const auto found =
        std::find_if(runs.begin(), runs.end(), [&](const RecordedRun& run) { return run.name == name; });
    if (found != runs.end()) return *found;
    return runs.emplace_back(RecordedRun{file, name, line, {}});
}

}  // namespace

std::string schedule_run_name(std::string_view order, Mode mode) {
    return fmt::format("{}_{}", order, mode_name(mode));
}

std::vector<RecordedRun> read_schedule_csv(std::string_view text, const std::string& file) {
    const CsvTable table = read_csv(text, file);
    const auto places = places_of_columns(table, file);
    if (table.rows.empty()) throw BadInput(file + ": a header but no rows");
    std::vector<RecordedRun> runs;
    for (const CsvRow& row : table.rows) {
        const std::string where = fmt::format("{}:{}", file, row.line);
        const auto cell = [&](std::size_t i) -> const std::string& { return row.fields[places[i]]; };
        RecordedRun& run = run_named(runs, cell(0), file, row.line);
        const std::int64_t id = whole_number(cell(1), columns()[1], static_cast<double>(kMostTiles), where);
        const std::int64_t sm = whole_number(cell(2), columns()[2], 1e6, where);
        const double start = number(cell(3), columns()[3], kLongestNs, where);
        const double end = number(cell(4), columns()[4], kLongestNs, where);
        if (end < start) {
            throw BadInput(fmt::format("{}: launch id {} ends at {} ns, before its start at {} ns", where, id,
                                       cell(4), cell(3)));
        }
        const RecordedRun::Entry entry{{static_cast<std::int32_t>(sm), from_ns(start), from_ns(end)},
                                       row.line};
        const auto [place, fresh] = run.stays.try_emplace(id, entry);
        if (!fresh) {
            throw BadInput(fmt::format("{}: launch id {} of run '{}' is there twice, first in line {}", where,
                                       id, run.name, place->second.line));
        }
    }
    return runs;
}

LaunchSchedule schedule_of(const RecordedRun& run, std::span<const std::int32_t> tile_of_launch,
                           const Machine& machine) {
    LaunchSchedule schedule(tile_of_launch.size());
    Picoseconds first = run.stays.begin()->second.stay.start, last = 0;
    for (const auto& [id, entry] : run.stays) {
        if (id >= static_cast<std::int64_t>(tile_of_launch.size())) {
            throw BadInput(fmt::format("{}:{}: launch id {}, but the launch has 0 to {}", run.file,
                                       entry.line, id, tile_of_launch.size() - 1));
        }
        if (entry.stay.sm >= static_cast<std::int32_t>(machine.sms.size())) {
            throw BadInput(fmt::format("{}:{}: SM {}, but {} has 0 to {}", run.file, entry.line,
                                       entry.stay.sm, machine.name, machine.sms.size() - 1));
        }
        schedule[static_cast<std::size_t>(id)] = entry.stay;
        first = std::min(first, entry.stay.start);
        last = std::max(last, entry.stay.end);
    }
    if (last == first)
        throw BadInput(fmt::format("{}:{}: run '{}' takes no time", run.file, run.line, run.name));
    for (std::size_t id = 0; id < schedule.size(); ++id) {
        if (tile_of_launch[id] >= 0 && schedule[id].sm < 0) {
            throw BadInput(fmt::format("{}:{}: run '{}' has no launch id {}; a replay needs all {}", run.file,
                                       run.line, run.name, id, schedule.size()));
        }
        schedule[id].start -= first;
        schedule[id].end -= first;
    }
    return schedule;
}

std::string schedule_csv_header() {
    return csv_line(columns());
}

std::string schedule_csv(const std::string& run, const LaunchSchedule& schedule) {
    std::string text;
    const auto ns = [](Picoseconds time) { return format_exact(static_cast<double>(time) / kPsPerNs); };
    for (std::size_t id = 0; id < schedule.size(); ++id) {
        const CtaStay& stay = schedule[id];
        if (stay.sm < 0) continue;
        text += csv_line({run, std::to_string(id), std::to_string(stay.sm), ns(stay.start), ns(stay.end)});
    }
    return text;
}

}  // namespace l2lens
