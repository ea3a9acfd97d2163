// SPDX-License-Identifier: Apache-2.0
#include "cli/replayed_schedules.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "load/text_file.hpp"
#include "report/statistics.hpp"

namespace l2lens::cli {
namespace {

std::vector<RecordedRun> read_runs(const std::vector<std::string>& files) {
    std::vector<RecordedRun> runs;
    for (const std::string& file : files) {
        for (RecordedRun& run : read_schedule_csv(read_text_file(file, kMostTableBytes), file)) {
            const auto twice = std::find_if(runs.begin(), runs.end(),
                                            [&](const RecordedRun& other) { return other.name == run.name; });
            if (twice != runs.end()) {
                throw BadInput(fmt::format("{}:{}: run '{}' is also in {}:{}", run.file, run.line, run.name,
                                           twice->file, twice->line));
            }
            runs.push_back(std::move(run));
        }
    }
    return runs;
}

// So much longer than recorded a replay takes, so that a CTA that has fallen behind finds its place again.
// With 1, single CTAs of launches whose reuse only just fits the L2 come up to 50 us late, and some of those
// fill up to 69 % too much; with 1.05 six fill what was counted within 6.3 % (traces/h200/just_fit.csv).
constexpr double kCatchesUp = 1.05;

Picoseconds duration_of(const LaunchSchedule& schedule) {
    Picoseconds end = 0;
    for (const CtaStay& stay : schedule) end = std::max(end, stay.end);
    return end;
}

LaunchSchedule stretched(LaunchSchedule schedule, double factor) {
    for (CtaStay& stay : schedule) {
        stay.start = static_cast<Picoseconds>(static_cast<double>(stay.start) * factor);
        stay.end = static_cast<Picoseconds>(static_cast<double>(stay.end) * factor);
    }
    return schedule;
}

double cta_time_error_pct(const LaunchSchedule& simulated, const LaunchSchedule& recorded) {
    std::vector<double> errors;
    for (std::size_t id = 0; id < recorded.size(); ++id) {
        const auto length = [&](const LaunchSchedule& schedule) {
            return static_cast<double>(schedule[id].end - schedule[id].start);
        };
        if (length(recorded) > 0) errors.push_back(100 * (length(simulated) / length(recorded) - 1));
    }
    return errors.empty() ? 0 : percentile(errors, 0.5);
}

}  // namespace

ReplayedSchedules::ReplayedSchedules(const std::vector<std::string>& files,
                                     std::span<const ValidationRow> rows)
    : runs_(read_runs(files)), run_of_row_(rows.size(), nullptr) {
    std::vector<std::string> names;
    for (const ValidationRow& row : rows)
        names.push_back(schedule_run_name(row.recorded.order, row.recorded.mode));
    for (const RecordedRun& run : runs_) {
        const auto found = std::find(names.begin(), names.end(), run.name);
        if (found == names.end()) {
            throw BadInput(fmt::format("{}:{}: run '{}' is of no row, whose runs would be named ORDER_MODE{}",
                                       run.file, run.line, run.name, suggestion(run.name, names)));
        }
        const auto place = static_cast<std::size_t>(found - names.begin());
        const auto second = std::find(found + 1, names.end(), run.name);
        if (second != names.end()) {
            const auto other = static_cast<std::size_t>(second - names.begin());
            throw BadInput(fmt::format(
                "{}:{}: run '{}' could be of {} and of {}; a schedule goes with the rows of one kernel",
                run.file, run.line, run.name, rows[place].recorded.where(), rows[other].recorded.where()));
        }
        run_of_row_[place] = &run;
    }
}

const RecordedRun* ReplayedSchedules::of(std::size_t place) const {
    return run_of_row_[place];
}

ReplayedRow replay_schedule(const Machine& machine, const Kernel& kernel, const NamedOrder& order,
                            PredictOptions options, double predicted_ns, const RecordedRun& run,
                            Executor& executor) {
    const LaunchSchedule recorded = schedule_of(run, order.tile_of_launch, machine);
    // The schedule is of the CTAs, without what the launch takes around them.
    const double of_ctas_ns = predicted_ns - machine.launch.overhead_ns;
    const double ratio = of_ctas_ns / (static_cast<double>(duration_of(recorded)) / kPsPerNs);
    const LaunchSchedule replayed = stretched(recorded, std::max(ratio, 1.0) * kCatchesUp);
    options.schedule = &replayed;
    options.recorded_paces = true;
    options.record_schedule = true;
    Prediction prediction = predict(machine, kernel, order, options, executor);
    return {std::move(prediction.counters), cta_time_error_pct(prediction.schedule, recorded)};
}

}  // namespace l2lens::cli
