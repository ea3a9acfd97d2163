// SPDX-License-Identifier: Apache-2.0
// Does a box whose lines the L2 has come later when its SM asked for one from DRAM just before? One SM that
// asks for two boxes one right after the other, and when their rows land (traces/h200/boxes.csv).
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "load/machine_file.hpp"
#include "schedule/wire.hpp"
#include "support/catch.hpp"
#include "support/recorded.hpp"
#include "support/streams.hpp"

using namespace l2lens;

namespace {

constexpr int kRounds = 40;

// When the rows of the second box land, ns, mean: `boxes` says of each whether the L2 has it, as rr or mr.
double recorded_landing(const std::string& boxes, int rows) {
    constexpr double kSmCyclesPerNs = 1.98;
    double sum = 0;
    const auto watched = test::recorded_rows(
        "boxes.csv", {{"asked_by", "warps"}, {"rows", std::to_string(rows)}, {"boxes", boxes}, {"box", "1"}});
    for (const test::RecordedCells& row : watched) sum += row["mean_cycles"];
    return sum / static_cast<double>(watched.size()) / kSmCyclesPerNs;
}

// Lines that lie anywhere, so that how they meet in slices does not depend on the model's hash.
std::vector<LineNumber> scattered(int rows, RandomStream& random) {
    std::vector<LineNumber> lines;
    for (int row = 0; row < rows; ++row) lines.push_back(random.below(1u << 23));
    return lines;
}

// An SM and its L2, all lanes of it.
class LoneSm {
public:
    explicit LoneSm(const Machine& machine) : machine_(machine), run_(machine, all_lanes(machine), 1) {}

    // Asks for these lines, one a cycle: the sum of when they land.
    double land(const std::vector<LineNumber>& lines) {
        const auto before = static_cast<std::ptrdiff_t>(run_.arrivals().size());
        test::Stream stream = test::reads(machine_.sms.front().gpc, lines);
        stream.in_flight = static_cast<int>(lines.size());
        stream.gap = static_cast<Picoseconds>(1000 / machine_.clock.sm_max_ghz);
        run_.run({stream});
        return std::accumulate(run_.arrivals().begin() + before, run_.arrivals().end(), 0.0);
    }

private:
    static std::vector<int> all_lanes(const Machine& machine) {
        std::vector<int> lanes(static_cast<std::size_t>(machine.l2.slices_per_partition));
        std::iota(lanes.begin(), lanes.end(), 0);
        return lanes;
    }

    const Machine& machine_;
    test::StreamRun run_;
};

// As recorded_landing().
double predicted_landing(const Machine& machine, bool first_resident, int rows) {
    double sum = 0;
    LoneSm with_first(machine), first_alone(machine);
    RandomStream random(1, 0);
    for (int round = 0; round < kRounds; ++round) {
        const std::vector<LineNumber> first = scattered(rows, random);
        const std::vector<LineNumber> second = scattered(rows, random);
        std::vector<LineNumber> both = first;
        both.insert(both.end(), second.begin(), second.end());
        for (LoneSm* sm : {&with_first, &first_alone}) {
            sm->land(second);
            if (first_resident) sm->land(first);
        }
        // What the first one's lines take is the same with and without a second one.
        sum += with_first.land(both) - first_alone.land(first);
    }
    return sum / kRounds / rows / kPsPerNs;
}

double later_behind_a_missing_one(const Machine& machine, int rows) {
    return predicted_landing(machine, false, rows) - predicted_landing(machine, true, rows);
}

// When the first row of the box behind `stores` stored ones lands, SM cycles, mean.
double recorded_behind_stores(int stores, int rows) {
    const std::string boxes = std::string(static_cast<std::size_t>(stores), 's') + "r";
    return test::recorded_rows("boxes.csv", {{"asked_by", "thread"},
                                             {"rows", std::to_string(rows)},
                                             {"boxes", boxes},
                                             {"box", std::to_string(stores)},
                                             {"row", "0"}})
        .front()["mean_cycles"];
}

}  // namespace

TEST_CASE("A stored box holds up the load behind it as long as on the GPU") {
    const Machine machine = load_machine("h200");
    const double cycles_a_row = cycles_per_line(machine, Operation::Write);
    for (const int rows : {128, 256})
        for (const int stores : {1, 2, 3}) {
            INFO(rows << " rows, " << stores << " stores");
            const double recorded =
                recorded_behind_stores(stores, rows) - recorded_behind_stores(stores - 1, rows);
            // The first one's beginning hides behind the load's own: 457 cycles of 512.
            CHECK(rows * cycles_a_row == Approx(recorded).epsilon(stores == 1 ? 0.12 : 0.02));
        }
}

TEST_CASE("A box that hits lands as much later behind one from DRAM as on the GPU") {
    const Machine machine = load_machine("h200");
    // Small boxes hardly meet in a slice, and of the largest a good part has landed when the second begins:
    // the model has them 25 for 12 and 78 for 50 ns late.
    for (const auto& [rows, within] : {std::pair{16, 1.1}, {64, 0.3}, {128, 0.3}, {256, 0.6}}) {
        INFO(rows << " rows");
        const double recorded = recorded_landing("mr", rows) - recorded_landing("rr", rows);
        const double predicted = later_behind_a_missing_one(machine, rows);
        CHECK(recorded > 10);
        CHECK(predicted == Approx(recorded).margin(within * recorded));
    }
}

TEST_CASE("Without an order of far lines a box does not mind what came before it") {
    Machine machine = load_machine("h200");
    machine.l2.far_in_order = false;
    for (const int rows : {16, 128}) CHECK(later_behind_a_missing_one(machine, rows) < 3);
}
