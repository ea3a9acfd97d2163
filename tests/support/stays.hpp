// SPDX-License-Identifier: Apache-2.0
// Who ran where and when in a launch: as recorded on an H200, and as the model has it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "cli/model_run.hpp"
#include "load/text_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "report/schedule_csv.hpp"
#include "support/catch.hpp"

#include "predict.hpp"

namespace l2lens::test {

using Stays = std::map<std::int64_t, CtaStay>;  // by launch id

// The launch `run_name` of a file in traces/h200.
inline RecordedRun recorded_run(const std::string& file, const std::string& run_name) {
    const std::string path = L2LENS_SOURCE_DIR "/traces/h200/" + file;
    for (RecordedRun& run : read_schedule_csv(read_text_file(path), path))
        if (run.name == run_name) return std::move(run);
    FAIL("no " << run_name << " in " << path);
    return {};
}

inline Stays recorded_stays(const std::string& file, const std::string& run_name) {
    Stays stays;
    for (const auto& [id, entry] : recorded_run(file, run_name).stays) stays[id] = entry.stay;
    return stays;
}

inline Stays predicted_stays(const Machine& machine, const Kernel& kernel, const std::string& order,
                             Mode mode, std::uint64_t seed = 0, int sample = 16) {
    PredictOptions options;
    options.seed = seed;
    options.sample = sample;
    options.mode = mode;
    options.record_schedule = true;
    TbbExecutor executor(2);
    const Prediction prediction =
        predict(machine, kernel, cli::named_order(order, machine, kernel, options.mode), options, executor);
    Stays stays;
    for (const CtaStay& stay : prediction.schedule) stays[static_cast<std::int64_t>(stays.size())] = stay;
    return stays;
}

}  // namespace l2lens::test
