// SPDX-License-Identifier: Apache-2.0
// Recorded schedules beside recorded counters: which run of --replay-schedule is which row's.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/schedule_csv.hpp"
#include "report/validation_row.hpp"

#include "predict.hpp"

namespace l2lens::cli {

class ReplayedSchedules {
public:
    // Reads the files. A run is of the row whose order and mode it names. Throws BadInput for a run that is
    // of no row, or could be of two (the runs of one kernel are held against rows of one kernel).
    ReplayedSchedules(const std::vector<std::string>& files, std::span<const ValidationRow> rows);

    // The run of the row at `place`, or nullptr.
    const RecordedRun* of(std::size_t place) const;

    std::size_t runs() const { return runs_.size(); }

private:
    std::vector<RecordedRun> runs_;
    std::vector<const RecordedRun*> run_of_row_;
};

// The launch under the recorded schedule. Where the simulated CTAs take longer than the recorded ones,
// recorded starts could not be kept and would fall behind more and more; the recorded times are then
// stretched to the predicted duration, `predicted_ns`. Throws BadInput when the run is not one of this
// launch.
ReplayedRow replay_schedule(const Machine& machine, const Kernel& kernel, const NamedOrder& order,
                            PredictOptions options, double predicted_ns, const RecordedRun& run,
                            Executor& executor);

}  // namespace l2lens::cli
