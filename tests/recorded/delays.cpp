// SPDX-License-Identifier: Apache-2.0
// How long does a single line take while other SMs stream from DRAM, and behind whom does it wait? One SM
// that loads lines whose home is near or far, which the L2 has or has not (traces/h200/delays.csv). What is
// compared is how much longer they take than a near line that hits while nobody streams.
#include <string>

#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/copies.hpp"
#include "support/effort.hpp"
#include "support/lone_lines.hpp"
#include "support/recorded.hpp"

using namespace l2lens;

namespace {

using Line = test::LineKind;

test::RecordedCells row_of(Line line, int in_flight) {
    return test::recorded_rows("delays.csv", {{"lines", line.resident ? "resident" : "missing"},
                                              {"home", line.far ? "far" : "near"},
                                              {"at_once", "1"},
                                              {"in_flight", std::to_string(in_flight)}})
        .front();
}

// While all other SMs have so many copies in flight.
double predicted_ns(const Machine& machine, Line line, int in_flight) {
    constexpr double kLoneNs = 40000;
    const test::RecordedCells row = row_of(line, in_flight);
    const test::LoneLines lone =
        test::lone_lines(machine, line, std::max(in_flight, 1), kLoneNs, row["mean_ns"]);
    if (in_flight == 0) return test::Copies({}, lone).ns_of_lone_line(machine);
    test::Readers others{{}, std::int64_t{4} << 20, in_flight, 0};
    for (int sm = 1; sm < static_cast<int>(machine.sms.size()); ++sm) others.sms.push_back(sm);
    others.recorded = row["streamed_bytes_per_ns"] / static_cast<double>(others.sms.size()) / 2;
    return test::Copies({others}, lone).ns_of_lone_line(machine);
}

constexpr Line kNearHit{true, false};
constexpr Line kFarHit{true, true};

struct Longer {
    double recorded, predicted;
};

Longer than_an_idle_hit(const Machine& machine, Line line, int in_flight) {
    return {row_of(line, in_flight)["mean_ns"] - row_of(kNearHit, 0)["mean_ns"],
            predicted_ns(machine, line, in_flight) - predicted_ns(machine, kNearHit, 0)};
}

}  // namespace

TEST_CASE("A line from DRAM takes as much longer than one from the L2 as on the GPU") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    for (const bool far : {false, true}) {
        for (const int in_flight : {0, 1, 2}) {
            INFO((far ? "far" : "near") << " line, " << in_flight << " copies in flight");
            const Longer longer = than_an_idle_hit(machine, {false, far}, in_flight);
            CHECK(longer.predicted == Approx(longer.recorded).epsilon(0.1));  // seen: 0.09
        }
    }
}

TEST_CASE("Near lines that hit pass far ones that wait for the fabric, until DRAM is full") {
    if (test::left_to_plain_builds()) return;
    Machine machine = load_machine("h200");
    for (const int in_flight : {1, 2, 3}) {
        INFO(in_flight << " copies in flight");
        const Longer near = than_an_idle_hit(machine, kNearHit, in_flight);
        CHECK(near.recorded < 15);
        CHECK(near.predicted < 15);
    }
    for (const int in_flight : {3, 4, 6, 8}) {
        INFO(in_flight << " copies in flight");
        const Longer near = than_an_idle_hit(machine, kNearHit, in_flight);
        const Longer far = than_an_idle_hit(machine, kFarHit, in_flight);
        CHECK(far.recorded > near.recorded + 200);
        CHECK(far.predicted > near.predicted + 100);
        if (in_flight >= 6) CHECK(near.recorded > 150);
        if (in_flight >= 6) CHECK(near.predicted > 150);
    }
    machine.l2.far_queue_requests = 0;
    CHECK(than_an_idle_hit(machine, kNearHit, 3).predicted > 50);
}
