// SPDX-License-Identifier: Apache-2.0
// Who ran where and when on an H200 (traces/h200/attention_schedules.csv), against the model: do CTAs that do
// the same work take times as different as they did there? The constant of models/kernels/attention.lua is
// this file's.
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/model_run.hpp"
#include "load/machine_file.hpp"
#include "load/text_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "report/schedule_csv.hpp"
#include "support/catch.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

constexpr std::int64_t kHeads = 16;  // of the recorded launch; its column_major order goes through them first
// Shorter CTAs spend a good part of their time on the start.
constexpr std::int64_t kFirstBlock = 16;

// Standard deviation of the CTAs' times, each over the mean of those with as many keys.
double spread_of(const std::map<std::int64_t, CtaStay>& stays) {
    std::map<std::int64_t, std::vector<double>> times;  // by block of queries
    for (const auto& [id, stay] : stays)
        times[id / kHeads].push_back(static_cast<double>(stay.end - stay.start));
    double squares = 0;
    int count = 0;
    for (const auto& [block, of_block] : times) {
        if (block < kFirstBlock) continue;
        double mean = 0;
        for (double time : of_block) mean += time / static_cast<double>(of_block.size());
        for (double time : of_block) squares += (time / mean - 1) * (time / mean - 1);
        count += static_cast<int>(of_block.size());
    }
    return std::sqrt(squares / count);
}

double recorded_spread() {
    const std::string path = L2LENS_SOURCE_DIR "/traces/h200/attention_schedules.csv";
    for (const RecordedRun& run : read_schedule_csv(read_text_file(path), path)) {
        if (run.name != schedule_run_name("column_major", Mode::Grid)) continue;
        std::map<std::int64_t, CtaStay> stays;
        for (const auto& [id, entry] : run.stays) stays[id] = entry.stay;
        return spread_of(stays);
    }
    FAIL("no column_major in " << path);
    return 0;
}

double predicted_spread(const Machine& machine, const Kernel& kernel) {
    PredictOptions options;
    options.sample = 16;
    options.record_schedule = true;
    TbbExecutor executor(2);
    const Prediction prediction =
        predict(machine, kernel, cli::named_order("column_major", machine, kernel), options, executor);
    std::map<std::int64_t, CtaStay> stays;
    for (const CtaStay& stay : prediction.schedule) stays[static_cast<std::int64_t>(stays.size())] = stay;
    return spread_of(stays);
}

}  // namespace

TEST_CASE("Attention's CTAs that do the same differ in time as they did on the H200") {
    const double recorded = recorded_spread();
    const Machine machine = load_machine("h200");
    Kernel kernel = cli::load_launched("attention", {"causal=true"}, "", machine).kernel;
    CHECK(std::abs(kernel.pace_spread - recorded) <= 0.001);
    const double predicted = predicted_spread(machine, kernel);
    INFO("recorded " << 100 * recorded << " %, predicted " << 100 * predicted << " %");
    CHECK(std::abs(predicted / recorded - 1) <= 0.25);
    // Latencies alone do not make them that different.
    kernel.pace_spread = 0;
    CHECK(predicted_spread(machine, kernel) <= recorded / 2);
}
