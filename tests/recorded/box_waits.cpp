// SPDX-License-Identifier: Apache-2.0
// How much longer do boxes from DRAM take the more of it SMs read at random, and how far do they vary? SMs
// that ask for boxes of 128 rows at a pace of their own (traces/h200/box_waits.csv), without a kernel: all
// slices. That boxes of different SMs wait alike in the model, when they ask at once, and not on the GPU is
// in docs/mechanisms.md.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "load/machine_file.hpp"
#include "machine/topology.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/moments.hpp"
#include "support/recorded.hpp"
#include "support/streams.hpp"

using namespace l2lens;
using test::mean;

namespace {

constexpr int kRows = 128;           // of a box, a line each
constexpr int kPitchLines = 64;      // 8 KiB
constexpr std::size_t kBoxes = 100;  // of each SM
constexpr std::size_t kUntimed = 16;

// Of one box, whose lines leave one after the other from `asked` on.
test::Stream box_at(const Machine& machine, std::size_t sm, LineNumber first_line, Picoseconds asked) {
    const double line_ps = 1000 / machine.bandwidth.issue_lines_per_cycle / machine.clock.sm_max_ghz;
    test::Stream box;
    box.gpc = machine.sms[sm].gpc;
    box.sm = numbers_in_gpcs(machine)[sm];
    box.count = kRows;
    box.request = [=](std::int64_t row) {
        Request request;
        request.line = first_line + static_cast<LineNumber>(row * kPitchLines);
        request.sectors = kWholeLine;
        request.fetch = Fetch::Tensor;
        request.time = asked + static_cast<Picoseconds>(static_cast<double>(row) * line_ps);
        return request;
    };
    return box;
}

// How long boxes take, in ns, that each SM asks for once in a period, and up to half of one later, when all
// have asked for some.
std::vector<double> predicted(const Machine& machine, const test::RecordedCells& row) {
    const double period_ns = row["period_ns"];
    RandomStream random(1, 0);
    std::vector<test::Stream> boxes;
    std::vector<Picoseconds> asked;
    for (std::size_t sm = 0; sm < machine.sms.size(); ++sm) {
        const double first_ns = random.uniform() * period_ns;
        for (std::size_t i = 0; i < kBoxes; ++i) {
            const double later_ns = random.uniform() * period_ns / 2;
            asked.push_back(from_ns(first_ns + static_cast<double>(i) * period_ns + later_ns));
            const std::size_t block = i / kPitchLines * machine.sms.size() + sm;
            const std::size_t line = block * kRows * kPitchLines + i % kPitchLines;
            boxes.push_back(box_at(machine, sm, static_cast<LineNumber>(line), asked.back()));
        }
    }
    std::vector<int> all(static_cast<std::size_t>(machine.l2.slices_per_partition));
    std::iota(all.begin(), all.end(), 0);
    const std::vector<Picoseconds> there = test::StreamRun(machine, all, 1).run(boxes);
    std::vector<double> times;
    for (std::size_t i = 0; i < boxes.size(); ++i)
        if (i % kBoxes >= kUntimed) times.push_back(static_cast<double>(there[i] - asked[i]) / kPsPerNs);
    return times;
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
        CHECK(mean(predicted(machine, row)) - idle_ns ==
              Approx(longer).margin(5 + longer / 10));  // seen: 15 in 164
    }
}

TEST_CASE("Boxes from a DRAM that is not half full vary as on the GPU") {
    if (test::left_to_plain_builds()) return;
    const Machine machine = load_machine("h200");
    for (const std::string period : {"8000", "2160", "1440"}) {
        INFO(period << " ns from one box of an SM to the next");
        const test::RecordedCells row = row_of(period);
        CHECK(width(predicted(machine, row)) ==
              Approx(row["p90_ns"] - row["p10_ns"]).epsilon(0.25));  // seen: 0.23
    }
    // What varies is DRAM's refreshes.
    Machine without = machine;
    without.latency.dram_refresh_ns = without.latency.dram_refresh_share = 0;
    CHECK(width(predicted(without, row_of("8000"))) <= 30);
}
