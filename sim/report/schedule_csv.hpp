// SPDX-License-Identifier: Apache-2.0
// Schedules as files: which SM ran which CTA (or tile, in persistent modes), from when to when. What
// `validate --live --record-schedule` and `predict --record-schedule` write and `validate --replay-schedule`
// reads; described in traces/h200/README.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "machine/machine.hpp"
#include "schedule/dispatcher.hpp"
#include "schedule/launch_schedule.hpp"

namespace l2lens {

// The stays of one launch, each with the line of the file that says it.
struct RecordedRun {
    struct Entry {
        CtaStay stay;
        std::size_t line = 0;
    };
    std::string file;
    std::string name;                     // ORDER_MODE, as in "group_m:8_grid"
    std::size_t line = 0;                 // where it begins
    std::map<std::int64_t, Entry> stays;  // by launch id
};

// The name of a launch in column `run`.
std::string schedule_run_name(std::string_view order, Mode mode);

// In the order of the file. Throws BadInput, "FILE:LINE: what", for a column too many or too few, what is no
// number, an end before its start, and a launch id that a run has twice.
std::vector<RecordedRun> read_schedule_csv(std::string_view text, const std::string& file);

// The run as a schedule of the launch `tile_of_launch` (launch id -> tile, -1: none) on `machine`, its times
// from its first start on. Throws BadInput for an SM that the machine lacks, for a launch id beyond the
// launch's, for one that is missing, and for a run that takes no time.
LaunchSchedule schedule_of(const RecordedRun& run, std::span<const std::int32_t> tile_of_launch,
                           const Machine& machine);

// The line of the columns, and a launch's lines.
std::string schedule_csv_header();
std::string schedule_csv(const std::string& run, const LaunchSchedule& schedule);

}  // namespace l2lens
