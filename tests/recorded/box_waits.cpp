// SPDX-License-Identifier: Apache-2.0
// How much longer do boxes from DRAM take the more of it SMs read at random, and how far do they vary? SMs
// that ask for boxes of 128 rows at a pace of their own (traces/h200/box_waits.csv), without a kernel: all
// slices. That boxes of different SMs wait alike in the model, when they ask at once, and not on the GPU is
// in docs/mechanisms.md.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "load/machine_file.hpp"
#include "machine/topology.hpp"
#include "memory/lane.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/moments.hpp"
#include "support/recorded.hpp"

using namespace l2lens;
using test::mean;

namespace {

constexpr int kRows = 128;       // of a box, a line each
constexpr int kPitchLines = 64;  // 8 KiB
constexpr int kUntimed = 16;     // boxes of each SM, before the others
constexpr int kBoxes = 100;

struct Box {
    Picoseconds asked = 0;
    Picoseconds there = 0;
    int sm = 0;
    LineNumber first_line = 0;
};

// In the order in which SMs ask: once in a period each, and up to half of that later.
std::vector<Box> paced_boxes(const Machine& machine, Picoseconds period) {
    RandomStream random(1, 0);
    const auto sms = static_cast<int>(machine.sms.size());
    std::vector<Box> boxes;
    for (int sm = 0; sm < sms; ++sm) {
        const auto first = static_cast<Picoseconds>(random.uniform() * static_cast<double>(period));
        for (int i = 0; i < kBoxes; ++i) {
            const auto later = static_cast<Picoseconds>(random.uniform() * static_cast<double>(period / 2));
            const int block = i / kPitchLines * sms + sm;
            boxes.push_back({first + i * period + later, 0, sm,
                             static_cast<LineNumber>(block * kRows * kPitchLines + i % kPitchLines)});
        }
    }
    std::sort(boxes.begin(), boxes.end(), [](const Box& a, const Box& b) { return a.asked < b.asked; });
    return boxes;
}

// All lanes of an L2 that find nothing in it.
class PacedBoxes {
public:
    explicit PacedBoxes(const Machine& machine) : machine_(machine), model_(machine, 1) {
        for (int lane = 0; lane < model_.map.lanes(); ++lane)
            lanes_.push_back(std::make_unique<Lane>(model_, 0, lane));
    }

    // How long those take that are asked for after the first ones, in ns.
    std::vector<double> times(Picoseconds period) {
        std::vector<Box> boxes = paced_boxes(machine_, period);
        const Picoseconds window = exchange_window(machine_);
        std::size_t asked = 0;
        for (Picoseconds end = window; asked < boxes.size() || !idle(); end += window) {
            for (; asked < boxes.size() && boxes[asked].asked < end; ++asked) ask(boxes[asked], asked);
            for (auto& lane : lanes_) {
                lane->run_until(end);
                hand_over(*lane, boxes, asked);
            }
        }
        std::vector<double> times;
        for (const Box& box : boxes)
            if (box.asked > kUntimed * period)
                times.push_back(static_cast<double>(box.there - box.asked) / kPsPerNs);
        return times;
    }

private:
    // Numbers of boxes are kept in 16 bits while they are under way.
    void ask(const Box& box, std::size_t number) {
        const auto sm = static_cast<std::size_t>(box.sm);
        const double line_ps = 1000 / machine_.bandwidth.issue_lines_per_cycle / machine_.clock.sm_max_ghz;
        for (int row = 0; row < kRows; ++row) {
            Request request;
            request.line = box.first_line + static_cast<LineNumber>(row * kPitchLines);
            request.sectors = kWholeLine;
            request.fetch = Fetch::Tensor;
            request.gpc = static_cast<std::uint8_t>(machine_.sms[sm].gpc);
            request.sm = numbers_[sm];
            request.landing = static_cast<std::uint16_t>(number);
            request.time = box.asked + static_cast<Picoseconds>(row * line_ps) + model_.timing.sm_to_slice;
            lanes_[static_cast<std::size_t>(model_.map.lane(request.line))]->submit(request);
        }
    }

    void hand_over(Lane& lane, std::vector<Box>& boxes, std::size_t asked) const {
        for (int gpc = 0; gpc < machine_.gpcs; ++gpc) {
            for (const Answer& answer : lane.answers(gpc)) {
                const std::size_t back = (asked - 1 - answer.landing[0]) & 0xFFFF;
                Picoseconds& there = boxes[asked - 1 - back].there;
                there = std::max(there, answer.time);
            }
            lane.answers(gpc).clear();
        }
    }

    bool idle() const {
        return std::all_of(lanes_.begin(), lanes_.end(), [](const auto& lane) { return lane->idle(); });
    }

    const Machine& machine_;
    MemoryModel model_;
    std::vector<std::uint8_t> numbers_ = numbers_in_gpcs(machine_);
    std::vector<std::unique_ptr<Lane>> lanes_;
};

std::vector<double> predicted(const Machine& machine, const test::RecordedCells& row) {
    return PacedBoxes(machine).times(from_ns(row["period_ns"]));
}

// Between how many ns eight of ten lie.
double width(std::vector<double> times) {
    std::sort(times.begin(), times.end());
    const auto at = [&](double share) {
        return times[static_cast<std::size_t>(share * static_cast<double>(times.size() - 1))];
    };
    return at(0.9) - at(0.1);
}

test::RecordedCells row_of(const std::string& period_ns) {
    return test::recorded_rows("box_waits.csv",
                               {{"pitch_bytes", "8192"}, {"sms", "132"}, {"period_ns", period_ns}})
        .front();
}

}  // namespace

TEST_CASE("Boxes from DRAM take as much longer as on the GPU the more of it is read") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    const test::RecordedCells idle = row_of("8000");
    const double idle_ns = mean(predicted(machine, idle));
    for (const std::string period : {"2160", "1440", "1080", "860", "720"}) {
        INFO(period << " ns from one box of an SM to the next");
        const test::RecordedCells row = row_of(period);
        const double longer = row["mean_ns"] - idle["mean_ns"];
        CHECK(mean(predicted(machine, row)) - idle_ns == Approx(longer).margin(5 + longer / 10));
    }
}

TEST_CASE("Boxes from a DRAM that is not half full vary as on the GPU") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    for (const std::string period : {"8000", "2160", "1440"}) {
        INFO(period << " ns from one box of an SM to the next");
        const test::RecordedCells row = row_of(period);
        CHECK(width(predicted(machine, row)) == Approx(row["p90_ns"] - row["p10_ns"]).epsilon(0.25));
    }
    // What varies is DRAM's refreshes.
    Machine without = machine;
    without.latency.dram_refresh_ns = without.latency.dram_refresh_share = 0;
    CHECK(width(predicted(without, row_of("8000"))) <= 30);
}
