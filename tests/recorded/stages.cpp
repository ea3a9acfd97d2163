// SPDX-License-Identifier: Apache-2.0
// How long do CTAs wait for DRAM that have two, three and four steps of loads under way? One wave of Triton's
// persistent GEMM: with three stages each step waits for its loads, with five none does
// (traces/h200/triton_stages.csv).
#include <string>

#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/predict_row.hpp"
#include "support/recorded.hpp"

#include "predict.hpp"

using namespace l2lens;

namespace {

constexpr const char* kTime = "gpu__time_duration.sum";

// Both readings of a wave.
struct Times {
    double recorded = 0, predicted = 0;
};

Times of_wave(const Machine& machine, const char* k, const char* stages) {
    const auto rows = test::recorded_rows("triton_stages.csv",
                                          {{"m", "1408"}, {"n", "1536"}, {"k", k}, {"stages", stages}});
    REQUIRE(rows.size() == 2);
    PredictOptions options;
    options.sample = 16;
    options.seeds = 2;
    const Prediction prediction = test::predict_row(
        rows.front(), {"m", "n", "k", "bm", "bn", "bk", "stages", "warps", "mode"}, machine, options);
    return {(rows[0][kTime] + rows[1][kTime]) / 2, prediction.counters.at(kTime)};
}

}  // namespace

TEST_CASE("Steps with two, three and four ahead wait for DRAM as long as on the GPU") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    for (const char* k : {"8192", "16384"}) {
        for (const char* stages : {"3", "4", "5"}) {
            INFO("K = " << k << ", " << stages << " stages");
            const Times times = of_wave(machine, k, stages);
            // seen: 0.069 too little with four stages and K = 16384, else 0.05
            CHECK(times.predicted == Approx(times.recorded).epsilon(0.075));
        }
    }
    // An answer of DRAM's that came 100 ns later would be waited for with three stages, but not with five.
    Machine later = machine;
    later.latency.dram_ns += 100;
    const Times waits = of_wave(later, "8192", "3"), does_not = of_wave(later, "8192", "5");
    CHECK(waits.predicted > 1.06 * waits.recorded);
    CHECK(does_not.predicted == Approx(does_not.recorded).epsilon(0.06));
}
