// SPDX-License-Identifier: Apache-2.0
// Six stages of 128 x 128 tiles ask for more than slices take in time: their queues fill, and CPCs take turns
// (l2.input_queue). So the SMs of a CPC of four get ahead of those of six, in launches whose CTAs have parted
// (traces/h200/gemm_schedules_six_stages.csv: 6144 x 9216 x 4096, static). In the same ones, and as far?
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "cli/model_run.hpp"
#include "cli/replayed_schedules.hpp"
#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "report/schedule_csv.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/moments.hpp"
#include "support/recorded.hpp"
#include "support/stays.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

constexpr const char* kSchedules = "gemm_schedules_six_stages.csv";
constexpr std::int64_t kWaves = 24;

Kernel six_stages(const Machine& machine) {
    return cli::load_launched("gemm", {"m=6144", "n=9216", "k=4096", "stages=6", "pipeline=warp_specialized"},
                              "static", machine)
        .kernel;
}

// GPCs of 16 SMs have two CPCs of six and one of four. Of GPC 0 that one is of other SMs on the board that
// was recorded.
bool counts(const Machine& machine, const Sm& sm) {
    int sms = 0;
    for (const Sm& other : machine.sms) sms += other.gpc == sm.gpc ? 1 : 0;
    return sm.gpc != 0 && sms == 16;
}

// By how much sooner tile kWaves of an SM begins on CPCs of four than on those of six, in the mean (us).
double lead_us(const test::Stays& stays, const Machine& machine) {
    const auto sms = static_cast<std::int64_t>(machine.sms.size());
    std::vector<double> small, others;  // starts, us
    for (std::int64_t id = kWaves * sms; id < (kWaves + 1) * sms; ++id) {
        const CtaStay& stay = stays.at(id);
        const Sm& sm = machine.sms[static_cast<std::size_t>(stay.sm)];
        if (!counts(machine, sm)) continue;
        auto& starts = sm.cpc == machine.cpcs_per_gpc - 1 ? small : others;
        starts.push_back(static_cast<double>(stay.start) / (1000.0 * kPsPerNs));
    }
    REQUIRE(small.size() == 4 * 5);  // of five such GPCs
    REQUIRE(others.size() == 12 * 5);
    return test::mean(others) - test::mean(small);
}

struct Leads {
    double recorded, predicted;
};

Leads leads(const std::string& order) {
    const Machine machine = load_machine("h200");
    const Kernel kernel = six_stages(machine);
    Leads leads{lead_us(test::recorded_stays(kSchedules, schedule_run_name(order, Mode::Static)), machine),
                0};
    constexpr std::uint64_t kSeeds = 4;
    constexpr int kAuto = 0;  // every seventh slice: of every 16th they get half as far ahead
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        const auto stays = test::predicted_stays(machine, kernel, order, Mode::Static, seed, kAuto);
        leads.predicted += lead_us(stays, machine) / kSeeds;
    }
    return leads;
}

}  // namespace

TEST_CASE("The SMs of small CPCs get ahead in the launches in which they do on the GPU") {
    if (test::left_to_plain_builds()) return;
    const Leads apart = leads("group_n:16");
    CHECK(apart.recorded > 50);
    CHECK(apart.predicted == Approx(apart.recorded).epsilon(0.15));
    const Leads thrashing = leads("row_major");
    CHECK(thrashing.recorded > 30);
    CHECK(thrashing.predicted > 0.5 * thrashing.recorded);  // seen: 23.5 for 36.3
    CHECK(thrashing.predicted < thrashing.recorded);
    const Leads together = leads("column_major");
    CHECK(std::abs(together.recorded) < 1);
    CHECK(std::abs(together.predicted) < 3);
}

// Under the model's own schedule it fills 14 % less.
TEST_CASE("When CTAs of six stages part as recorded, the memory fills what was counted") {
    if (test::left_to_plain_builds()) return;
    constexpr const char* kFills = "lts__d_sectors_fill_device.sum";
    const std::vector<test::RecordedCells> rows = test::recorded_rows(
        "stage_groups.csv",
        {{"m", "6144"}, {"n", "9216"}, {"stages", "6"}, {"order", "row_major"}, {"mode", "static"}});
    std::vector<double> fills;
    for (const auto& row : rows) fills.push_back(row[kFills]);
    const double counted = test::mean(fills);
    const RecordedRun run = test::recorded_run(kSchedules, schedule_run_name("row_major", Mode::Static));
    const Machine machine = load_machine("h200");
    const Kernel kernel = six_stages(machine);
    const NamedOrder order = cli::named_order("row_major", machine, kernel, Mode::Static);
    PredictOptions options;
    options.mode = Mode::Static;
    TbbExecutor executor(2);
    const Prediction own = predict(machine, kernel, order, options, executor);
    const double replayed =
        cli::replay_schedule(machine, kernel, order, options, own.time_ns, run, executor).counters.at(kFills);
    INFO("counted " << counted << ", under the recorded schedule " << replayed << ", under the model's "
                    << own.counters.at(kFills));
    CHECK(replayed == Approx(counted).epsilon(0.04));
}
