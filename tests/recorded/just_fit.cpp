// SPDX-License-Identifier: Apache-2.0
// Orders whose reuse only just fits the L2, and who ran which of their tiles when on an H200
// (traces/h200/gemm_schedules_16384x4096.csv, gemm_schedules_dynamic.csv; counters of the same launches in
// just_fit.csv). How far do GPCs part, and how far CTAs of one? Where fills are off, is it the schedule's
// fault?
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "cli/model_run.hpp"
#include "cli/replayed_schedules.hpp"
#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "report/predict_report.hpp"
#include "report/schedule_csv.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/moments.hpp"
#include "support/recorded.hpp"
#include "support/stays.hpp"

#include "predict.hpp"

using namespace l2lens;
using test::mean;
using test::recorded_run;
using test::recorded_stays;
using test::Stays;
using test::variance;

namespace {

struct Launch {
    const char* file;
    Mode mode;
    std::vector<std::string> shape;
};

const Launch kLaunches[] = {{"gemm_schedules_16384x4096.csv", Mode::Grid, {"m=16384", "n=4096", "k=4096"}},
                            {"gemm_schedules_dynamic.csv", Mode::Dynamic, {"m=8192", "n=8192", "k=4096"}}};

Kernel kernel_of(const Launch& launch, const Machine& machine) {
    std::vector<std::string> arguments = launch.shape;
    arguments.insert(arguments.end(), {"stages=4", "warps=4", "pipeline=warp_specialized"});
    return cli::load_launched("gemm", arguments, std::string(mode_name(launch.mode)), machine).kernel;
}

// Standard deviations of when tiles start, us: of the GPCs' means, and of the CTAs of a GPC, its mean.
struct Apart {
    double gpcs, in_gpc;
};

// Of each SM's tile number `round`, from 0.
Apart apart_in(const Stays& stays, const Machine& machine, std::size_t round) {
    std::map<int, std::vector<Picoseconds>> of_sm;
    for (const auto& [id, stay] : stays) of_sm[stay.sm].push_back(stay.start);
    std::map<int, std::vector<double>> of_gpc;
    for (auto& [sm, starts] : of_sm) {
        std::sort(starts.begin(), starts.end());
        if (starts.size() > round)
            of_gpc[machine.sms[static_cast<std::size_t>(sm)].gpc].push_back(
                static_cast<double>(starts[round]) / (1000.0 * kPsPerNs));
    }
    std::vector<double> means, deviations;
    for (const auto& [gpc, starts] : of_gpc) {
        means.push_back(mean(starts));
        deviations.push_back(std::sqrt(variance(starts)));
    }
    return {std::sqrt(variance(means)), mean(deviations)};
}

}  // namespace

TEST_CASE("GPCs part by 4 to 11 us in 28 tiles, those of group_n:16 and morton further than their CTAs") {
    const Machine machine = load_machine("h200");
    constexpr std::size_t kRound = 28;
    for (const Launch& launch : kLaunches) {
        for (const std::string order : {"group_m:16", "group_n:16", "morton"}) {
            const Apart apart =
                apart_in(recorded_stays(launch.file, schedule_run_name(order, launch.mode)), machine, kRound);
            INFO(launch.file << ' ' << order << ": GPCs " << apart.gpcs << " us, CTAs of one "
                             << apart.in_gpc);
            CHECK(apart.gpcs > 4);
            CHECK(apart.gpcs < 11.5);
            if (order != "group_m:16") CHECK(apart.gpcs > 1.3 * apart.in_gpc);
        }
    }
}

TEST_CASE("When CTAs run as recorded, what was counted is filled") {
    if (test::left_to_plain_builds()) return;
    constexpr const char* kFills = "lts__d_sectors_fill_device.sum";
    const Machine machine = load_machine("h200");
    TbbExecutor executor(2);
    for (const Launch& launch : kLaunches) {
        const Kernel kernel = kernel_of(launch, machine);
        for (const std::string name : {"group_m:16", "group_n:16", "morton"}) {
            const NamedOrder order = cli::named_order(name, machine, kernel, launch.mode);
            const auto row =
                test::recorded_rows("just_fit.csv", {{"m", launch.shape[0].substr(2)}, {"order", name}})
                    .front();
            const RecordedRun run = recorded_run(launch.file, schedule_run_name(name, launch.mode));
            PredictOptions options;
            options.sample = 16;
            options.mode = launch.mode;
            constexpr std::uint64_t kSeeds = 2;
            double own = 0, replayed = 0;
            for (options.seed = 0; options.seed < kSeeds; ++options.seed) {
                const Prediction prediction = predict(machine, kernel, order, options, executor);
                own += prediction.counters.at(kFills) / kSeeds;
                replayed +=
                    cli::replay_schedule(machine, kernel, order, options, prediction.time_ns, run, executor)
                        .counters.at(kFills) /
                    kSeeds;
            }
            INFO(launch.file << ' ' << name << ": counted " << row[kFills] << ", under the recorded schedule "
                             << replayed << ", under the model's " << own);
            // Seen: 0.003 and 0.013 in group_m:16, 0.037 to 0.062 in three of the others and 0.013.
            CHECK(replayed == Approx(row[kFills]).epsilon(name == "group_m:16" ? 0.025 : 0.075));
            if (name == "group_m:16")
                CHECK(std::abs(own / row[kFills] - 1) > std::abs(replayed / row[kFills] - 1));
        }
    }
}

TEST_CASE("A replay of a prediction's own schedule is that prediction but for a hundredth") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    const Launch& launch = kLaunches[1];
    const Kernel kernel = kernel_of(launch, machine);
    const NamedOrder order = cli::named_order("group_n:16", machine, kernel, launch.mode);
    PredictOptions options;
    options.sample = 16;
    options.mode = launch.mode;
    options.record_schedule = true;
    TbbExecutor executor(2);
    const Prediction prediction = predict(machine, kernel, order, options, executor);
    RecordedRun run;
    for (std::size_t id = 0; id < prediction.schedule.size(); ++id)
        run.stays[static_cast<std::int64_t>(id)].stay = prediction.schedule[id];
    const auto replayed =
        cli::replay_schedule(machine, kernel, order, options, prediction.time_ns, run, executor).counters;
    for (const char* counter : {"lts__d_sectors_fill_device.sum", "lts__t_sectors_srcunit_ltcfabric.sum",
                                "lts__t_sectors_srcunit_tex_lookup_miss.sum"}) {
        INFO(counter);  // seen: 0.002 of each
        CHECK(replayed.at(counter) == Approx(prediction.counters.at(counter)).epsilon(0.012));
    }
}
