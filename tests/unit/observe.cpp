// SPDX-License-Identifier: Apache-2.0
// Does what a report draws say what happened? Against slow, obvious ways to count, and against the counters.
#include <algorithm>
#include <list>
#include <random>

#include "load/machine_file.hpp"
#include "parallel/tbb_executor.hpp"
#include "report/operands.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/kernels.hpp"
#include "support/ordered.hpp"

#include "observe/detail_recorder.hpp"
#include "predict.hpp"

using namespace l2lens;

namespace {

// Mattson's stack itself: the lines, the last used first.
class NaiveStack {
public:
    std::optional<std::int64_t> use(LineNumber line) {
        std::optional<std::int64_t> distance;
        const auto place = std::find(stack_.begin(), stack_.end(), line);
        if (place != stack_.end()) {
            distance = std::distance(stack_.begin(), place);
            stack_.erase(place);
        }
        stack_.push_front(line);
        return distance;
    }

private:
    std::list<LineNumber> stack_;
};

double counted(const RunDetails& details, Event event) {
    double sum = 0;
    for (const TimeBin& bin : details.bins) sum += static_cast<double>(bin.events[event]);
    return sum * details.scale;
}

struct Observed {
    Prediction plain;
    Prediction watched;
};

Observed observe(const Kernel& kernel, const Machine& machine, PredictOptions options) {
    const NamedOrder order = test::order_of("row_major", kernel, machine);
    TbbExecutor executor;
    Observed observed;
    observed.plain = predict(machine, kernel, order, options, executor);
    const KernelLines lines(kernel, paneled_tensors(kernel));
    options.details = &lines;
    observed.watched = predict(machine, kernel, order, options, executor);
    return observed;
}

}  // namespace

TEST_CASE("Reuse distances are those of Mattson's stack") {
    const auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (int round = 0; round < test::cases(20); ++round) {
        const auto lines = static_cast<LineNumber>(1 + random() % 700);
        StackDistance fast;
        NaiveStack naive;
        for (int i = 0; i < 5000; ++i) {  // several times the first time axis
            const auto line = static_cast<LineNumber>(std::min(random() % lines, random() % lines));
            REQUIRE(fast.use(line) == naive.use(line));
        }
    }
}

TEST_CASE("Going round n lines, each comes back after the n - 1 others") {
    StackDistance distances;
    constexpr LineNumber kLines = 3000;  // more than the first time axis holds
    for (LineNumber line = 0; line < kLines; ++line) CHECK_FALSE(distances.use(line));
    for (int i = 0; i < 3; ++i) {
        for (LineNumber line = 0; line < kLines; ++line) REQUIRE(distances.use(line) == kLines - 1);
    }
    CHECK(distances.distinct_lines() == kLines);
}

TEST_CASE("Bins of reuse distances begin at powers of the fourth root of two") {
    const Machine machine = load_machine("h200");
    const ReuseBins bins(machine);
    CHECK(bins.bin_of(0) == 0);
    CHECK(bins.bin_of(1e15) == bins.count() - 1);
    for (std::size_t i = 2; i < bins.count(); ++i) {
        const double lower = bins.lower_bytes()[i];
        CHECK(lower / bins.lower_bytes()[i - 1] == Approx(1.189207115));  // 2^(1/4)
        CHECK(bins.bin_of(lower) == i);
        CHECK(bins.bin_of(lower * 0.999) == i - 1);
    }
    CHECK(bins.lower_bytes()[1] <= static_cast<double>(machine.partition_bytes()) / 64);
}

TEST_CASE("Bins of a timeline hold what was counted in their time, however long it runs") {
    const auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    for (const int windows : {1, 2, 127, 128, 129, 1000, 20000}) {
        constexpr Picoseconds kWindow = 80;
        std::vector<std::uint64_t> each;
        Events so_far;
        std::vector<std::uint64_t> seen;
        Timeline timeline([&] {
            seen.push_back(so_far[Event::FillSectors]);
            return std::vector<std::uint8_t>{static_cast<std::uint8_t>(seen.size() % 251)};
        });
        for (int i = 1; i <= windows; ++i) {
            const std::uint64_t fills = random() % 100;
            each.push_back(fills);
            Events now = so_far;
            now[Event::FillSectors] += fills;
            timeline.add(i * kWindow, now);
            so_far = now;
        }
        timeline.finish();
        REQUIRE(timeline.bins().size() <= Timeline::kMostBins);
        CHECK(timeline.bins().size() > std::min<std::size_t>(static_cast<std::size_t>(windows), 64) / 2);
        const auto windows_per_bin = static_cast<std::size_t>(timeline.bin_length() / kWindow);
        for (std::size_t b = 0; b < timeline.bins().size(); ++b) {
            std::uint64_t wanted = 0;
            for (std::size_t i = b * windows_per_bin; i < std::min(each.size(), (b + 1) * windows_per_bin);
                 ++i)
                wanted += each[i];
            REQUIRE(timeline.bins()[b].events[Event::FillSectors] == wanted);
            REQUIRE(timeline.bins()[b].state.size() == 1);
        }
    }
}

TEST_CASE("A GEMM's lines belong to the row of A's panel and the column of B's") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=512", "n=384", "k=256"}, machine);  // tiles of 128 x 128, 512 B rows
    const KernelLines lines(kernel, paneled_tensors(kernel));
    REQUIRE(lines.known());
    REQUIRE(lines.groups() == 4 + 3);
    const auto group_at = [&](std::size_t tensor, std::uint64_t row) {
        return lines.group_of(
            static_cast<LineNumber>((kernel.tensors[tensor].base + row * 512) / kLineBytes));
    };
    for (std::uint64_t row = 0; row < 512; ++row) CHECK(group_at(0, row) == static_cast<int>(row / 128));
    for (std::uint64_t row = 0; row < 384; ++row) CHECK(group_at(1, row) == 4 + static_cast<int>(row / 128));
    // C is stored, not read.
    const auto c = static_cast<LineNumber>(kernel.tensors[2].base / kLineBytes);
    CHECK(lines.group_of(c) == -1);
    CHECK(lines.read_sectors(c) == 0);
    CHECK(lines.read_sectors(0) == kWholeLine);
}

TEST_CASE("Looking on changes no prediction, and what was seen adds up to the counters") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=2048", "n=2048", "k=1024"}, machine);
    PredictOptions options;
    options.engine = GENERATE(Engine::Line, Engine::Tile);
    options.warm_l2 = GENERATE(false, true);
    options.sample = options.engine == Engine::Line ? 8 : 0;
    options.seeds = 2;
    const auto [plain, watched] = observe(kernel, machine, options);
    CHECK(plain.counters == watched.counters);
    CHECK(plain.metrics == watched.metrics);
    CHECK(plain.time_ns == watched.time_ns);
    CHECK_FALSE(plain.details);
    REQUIRE(watched.details);
    CHECK(watched.schedule.size() == 256);
    CHECK(watched.tile_of_launch.size() == 256);

    // One of the two seeds was watched: fills differ by what a schedule does to them, some percent.
    const RunDetails& details = *watched.details;
    CHECK(details.misses->all() ==
          Approx(counted(details, Event::FillSectors) + counted(details, Event::FabricReadHits)));
    const double asked =
        2.0 * 2048 * 2048 * 1024 / 128 * 2 / kSectorBytes;  // 2 operands of 2 B, tiles of 128
    CHECK(counted(details, Event::CoalescableSectors) == Approx(asked).epsilon(0.01));
    if (!options.warm_l2) {
        const double inputs = 2.0 * 2048 * 1024 * 2 / kSectorBytes;
        CHECK(details.misses->compulsory == Approx(inputs).epsilon(0.02));
        CHECK(details.misses->promotion == 0);  // whole lines
    }
}

TEST_CASE("Every request has a reuse distance or is a line's first") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=2048", "n=2048", "k=1024"}, machine);
    PredictOptions options;
    options.sample = 8;
    const Prediction watched = observe(kernel, machine, options).watched;
    REQUIRE(watched.details->reuse.size() == 3);
    // A and B: 2048 x 1024 elements of 2 B are 32768 lines, each asked for by the 16 tiles of its row or
    // column. C: 65536 lines, stored once. Lines are sampled, so that a few percent are missing or too many.
    for (const TensorReuse& reuse : watched.details->reuse) {
        double again = 0;
        for (const double requests : reuse.requests) again += requests;
        const bool input = reuse.tensor < 2;
        CHECK(reuse.first_uses == Approx(input ? 32768 : 65536).epsilon(0.05));
        CHECK(again == Approx(input ? 15 * reuse.first_uses : 0).margin(1e-6));
    }
}

TEST_CASE("Panels that fit stay where they were read") {
    // 2 MiB of inputs in 2 x 29.4 MiB: at the end the partitions hold all of it.
    const Machine machine = load_machine("h200");
    const Kernel kernel = test::gemm({"m=512", "n=512", "k=1024"}, machine);
    PredictOptions options;
    options.sample = 1;
    const Prediction watched = observe(kernel, machine, options).watched;
    const std::vector<std::uint8_t>& last = watched.details->bins.back().state;
    REQUIRE(last.size() == 2 * (4 + 4));
    // Each panel is read by CTAs of at least one partition, which holds all of it.
    for (std::size_t group = 0; group < 8; ++group)
        CHECK(std::max(last[group], last[8 + group]) == RunDetails::kWholePanel);
}
