// SPDX-License-Identifier: Apache-2.0
// Who ran where and when on an H200 (traces/h200/attention_schedules.csv, gemm_schedules.csv), against the
// model: do CTAs that do the same work take times as different as they did there? The constants of
// models/kernels/attention.lua and gemm.lua and the H200's clock.gpc_spread are these files'.
#include <algorithm>
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

using Stays = std::map<std::int64_t, CtaStay>;  // by launch id

Stays recorded_stays(const std::string& file, const std::string& run_name) {
    const std::string path = L2LENS_SOURCE_DIR "/traces/h200/" + file;
    for (const RecordedRun& run : read_schedule_csv(read_text_file(path), path)) {
        if (run.name != run_name) continue;
        Stays stays;
        for (const auto& [id, entry] : run.stays) stays[id] = entry.stay;
        return stays;
    }
    FAIL("no " << run_name << " in " << path);
    return {};
}

Stays predicted_stays(const Machine& machine, const Kernel& kernel, const std::string& order, Mode mode) {
    PredictOptions options;
    options.sample = 16;
    options.mode = mode;
    options.record_schedule = true;
    TbbExecutor executor(2);
    const Prediction prediction =
        predict(machine, kernel, cli::named_order(order, machine, kernel), options, executor);
    Stays stays;
    for (const CtaStay& stay : prediction.schedule) stays[static_cast<std::int64_t>(stays.size())] = stay;
    return stays;
}

// The GEMM of gemm_schedules.csv.
Kernel wide_tiles(Mode mode, const Machine& machine) {
    std::vector<std::string> arguments{"k=4096", "bn=256", "warps=8", "pipeline=warp_specialized"};
    if (mode == Mode::Static) arguments.push_back("mode=static");
    return cli::load_launched("gemm", arguments, "", machine).kernel;
}

double mean(const std::vector<double>& values) {
    double sum = 0;
    for (double value : values) sum += value;
    return sum / static_cast<double>(values.size());
}

double variance(const std::vector<double>& values) {
    double squares = 0;
    for (double value : values) squares += (value - mean(values)) * (value - mean(values));
    return squares / static_cast<double>(values.size());
}

// Of a launch with as much work in all CTAs, one CTA an SM at a time; in shares of a CTA's mean time.
struct Paces {
    double of_gpcs = 0;  // standard deviation of the GPCs' means
    // By how much CTAs that a GPC began together part each round: the standard deviation of an SM's i-th
    // start within its GPC over the root of i, as independent steps add up; mean of the rounds.
    double drift = 0;
};

// By SM, in the order of their starts.
std::map<int, std::vector<CtaStay>> by_sm(const Stays& stays) {
    std::map<int, std::vector<CtaStay>> of_sm;
    for (const auto& [id, stay] : stays) of_sm[stay.sm].push_back(stay);
    for (auto& [sm, ctas] : of_sm)
        std::sort(ctas.begin(), ctas.end(), [](const auto& a, const auto& b) { return a.start < b.start; });
    return of_sm;
}

Paces paces_of(const Stays& stays, const Machine& machine) {
    const auto of_sm = by_sm(stays);
    std::size_t rounds = stays.size();
    for (const auto& [sm, ctas] : of_sm) rounds = std::min(rounds, ctas.size());
    std::vector<double> means;  // by GPC
    std::vector<double> spreads(rounds, 0);
    for (int gpc = 0; gpc < machine.gpcs; ++gpc) {
        std::vector<double> times;
        std::vector<std::vector<double>> starts(rounds);
        for (const auto& [sm, ctas] : of_sm) {
            if (machine.sms[static_cast<std::size_t>(sm)].gpc != gpc) continue;
            for (std::size_t i = 0; i < rounds; ++i) {
                times.push_back(static_cast<double>(ctas[i].end - ctas[i].start));
                starts[i].push_back(static_cast<double>(ctas[i].start));
            }
        }
        means.push_back(mean(times));
        for (std::size_t i = 0; i < rounds; ++i) spreads[i] += variance(starts[i]) / machine.gpcs;
    }
    const double all = mean(means);
    double drift = 0;
    for (std::size_t i = 1; i < rounds; ++i)
        drift += std::sqrt(spreads[i] / static_cast<double>(i)) / static_cast<double>(rounds - 1);
    return {std::sqrt(variance(means)) / all, drift / all};
}

}  // namespace

TEST_CASE("Attention's CTAs that do the same differ in time, in the model twice as much as on the H200") {
    const double recorded =
        spread_of(recorded_stays("attention_schedules.csv", schedule_run_name("column_major", Mode::Grid)));
    Machine machine = load_machine("h200");
    machine.clock.gpc_spread = 0.0018;  // of the board of that file, by the means of its GPCs
    Kernel kernel = cli::load_launched("attention", {"causal=true"}, "", machine).kernel;
    CHECK(std::abs(kernel.pace_spread - recorded) <= 0.001);
    const double predicted = spread_of(predicted_stays(machine, kernel, "column_major", Mode::Grid));
    INFO("recorded " << 100 * recorded << " %, predicted " << 100 * predicted << " %");
    // What they wait for parts them in the model, not their paces: slices that are full for a while.
    CHECK(predicted >= recorded);
    CHECK(predicted <= 2.5 * recorded);
}

TEST_CASE("GPCs that hardly wait keep paces of their own, as on the H200") {
    for (const Mode mode : {Mode::Grid, Mode::Static}) {
        const std::string run = schedule_run_name("group_m:8", mode);
        INFO(run);
        Machine machine = load_machine("h200");
        const Paces recorded = paces_of(recorded_stays("gemm_schedules.csv", run), machine);
        // The constant is the file's.
        CHECK(std::abs(machine.clock.gpc_spread - recorded.of_gpcs) <= 0.001);
        const Kernel kernel = wide_tiles(mode, machine);
        const Paces predicted = paces_of(predicted_stays(machine, kernel, "group_m:8", mode), machine);
        CHECK(std::abs(predicted.of_gpcs / recorded.of_gpcs - 1) <= 0.25);
        // Waiting alone does not part them.
        machine.clock.gpc_spread = 0;
        const Paces alike = paces_of(predicted_stays(machine, kernel, "group_m:8", mode), machine);
        CHECK(alike.of_gpcs <= recorded.of_gpcs / 2);
    }
}

TEST_CASE("CTAs of a GPC part from tile to tile as on the H200") {
    // A static launch: what a grid's CTAs wait for between two tiles parts them more than their tiles do.
    const Machine machine = load_machine("h200");
    const std::string run = schedule_run_name("group_m:8", Mode::Static);
    const Paces recorded = paces_of(recorded_stays("gemm_schedules.csv", run), machine);
    Kernel kernel = wide_tiles(Mode::Static, machine);
    INFO("recorded " << 100 * recorded.drift << " % of a tile");
    const auto drift = [&] {
        return paces_of(predicted_stays(machine, kernel, "group_m:8", Mode::Static), machine).drift;
    };
    const double predicted = drift();
    INFO("predicted " << 100 * predicted << " %");
    CHECK(std::abs(predicted / recorded.drift - 1) <= 0.2);
    kernel.pace_spread = 0;
    INFO("without paces " << 100 * drift() << " %");
    CHECK(drift() <= recorded.drift / 2);
}
