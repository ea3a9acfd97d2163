// SPDX-License-Identifier: Apache-2.0
// The parts of the tile engine: what it knows of boxes, of ages, of lines on their way and of queues.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <map>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/kernels.hpp"

#include "tile/box_table.hpp"
#include "tile/flows.hpp"
#include "tile/fullest_slice.hpp"
#include "tile/landing_curve.hpp"
#include "tile/recency.hpp"
#include "tile/step_units.hpp"
#include "tile/turn_shares.hpp"

using namespace l2lens;

namespace {

// What a RecencyLog of units of one line holds, as a share of kSetClasses.
class Sweeper {
public:
    Sweeper(std::uint32_t units, std::int64_t fullest, std::int64_t emptiest)
        : log_(units, {fullest, emptiest}) {}

    // Uses units 0 .. count-1 in turn; how many classes did not hold them, over all.
    std::uint64_t sweep(std::uint32_t count) {
        std::uint64_t missed = 0;
        for (std::uint32_t unit = 0; unit < count; ++unit) {
            missed += kSetClasses - log_.holding(unit);
            if (log_.holding(unit) == kSetClasses) {
                log_.use(unit);
            } else {
                log_.hold(unit, 1, [](std::uint32_t, std::uint32_t) {});
            }
        }
        return missed;
    }

private:
    static_assert(kSetClasses == 2);
    RecencyLog log_;
};

struct Prepared {
    Machine machine;
    Kernel kernel;
    AddressMap map;
    LaneSample all;
    Work work;
    SerialExecutor serial;
    BoxTable boxes;

    explicit Prepared(const std::vector<std::string>& arguments)
        : machine(load_machine("h200")),
          kernel(test::gemm(arguments, machine)),
          map(machine),
          all(map.lanes(), map.lanes()),
          work(kernel, map, all),
          boxes(machine, work, map, serial) {}

    const Box& box(std::int32_t walk, std::int64_t step) const { return boxes.box(walk, step); }
};

}  // namespace

TEST_CASE("A cyclic sweep that fits the capacity hits, one that does not misses everything") {
    // The knee of a least recently used cache, for a partition of 2000 units.
    for (const std::uint32_t units : {1500u, 2000u}) {
        Sweeper cache(4000, 2000, 2000);
        CHECK(cache.sweep(units) == units * kSetClasses);
        for (int pass = 0; pass < 5; ++pass) CHECK(cache.sweep(units) == 0);
    }
    Sweeper cache(4000, 2000, 2000);
    for (int pass = 0; pass < 5; ++pass) CHECK(cache.sweep(2001) == 2001 * kSetClasses);
}

TEST_CASE("Between the capacities of the fullest and the emptiest sets, half of a sweep hits") {
    Sweeper cache(4000, 1600, 2400);
    cache.sweep(2000);
    for (int pass = 0; pass < 3; ++pass) CHECK(cache.sweep(2000) == 2000);
}

TEST_CASE("The log finds the oldest unit as a list of all uses does") {
    const auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    const int cases = test::cases(20);
    for (int i = 0; i < cases; ++i) {
        // A window of 64 uses is a reordering that the log allows itself: units are taken from a universe
        // wide enough that two uses of one are seldom that near, and what differs must be that young.
        const std::uint32_t universe = 3000;
        const std::size_t capacity = 200 + random() % 2000;
        RecencyLog log(universe, {static_cast<std::int64_t>(capacity), static_cast<std::int64_t>(capacity)});
        std::deque<std::uint32_t> by_age;  // youngest first
        std::uint64_t differ = 0, uses = 20000;
        for (std::uint64_t use = 0; use < uses; ++use) {
            const auto unit = static_cast<std::uint32_t>(random() % universe);
            const auto found = std::find(by_age.begin(), by_age.end(), unit);
            differ += (found != by_age.end()) != (log.holding(unit) == kSetClasses) ? 1u : 0u;
            if (found != by_age.end()) by_age.erase(found);
            by_age.push_front(unit);
            if (by_age.size() > capacity) by_age.pop_back();
            if (log.holding(unit) == kSetClasses) {
                log.use(unit);
            } else {
                log.hold(unit, 1, [](std::uint32_t, std::uint32_t) {});
            }
        }
        // A skipped use misplaces a unit by at most 64 places of `capacity`, and few uses are skipped.
        CHECK(differ < uses / 100);
    }
}

TEST_CASE("Lines on their way fall off exponentially after the first") {
    const LandingCurve curve(1000.0);
    CHECK(curve.missing(100, 500, 9000) == kAll);
    CHECK(curve.missing(9000, 500, 9000) == 0);
    for (const double means : {0.25, 0.5, 1.0, 2.0, 3.0}) {
        const auto now = static_cast<Picoseconds>(500 + 1000 * means);
        // exp(-t), to a step of the curve's table
        CHECK(curve.missing(now, 500, 9000) == Approx(kAll * std::exp(-means)).margin(kAll / 16.0));
    }
}

TEST_CASE("The slowest of n lines has the mean of the largest of n exponentials") {
    const LandingCurve curve(1000.0);
    RandomStream random(1, 2);
    for (const int lines : {8, 64, 128}) {
        double sum = 0, harmonic = 0;
        for (int i = 0; i < 20000; ++i)
            sum += static_cast<double>(curve.slowest(std::log(lines), 1000.0, random));
        for (int i = 1; i <= lines; ++i) harmonic += 1.0 / i;  // its mean, exactly
        CHECK(sum / 20000 == Approx(1000 * harmonic).epsilon(0.05));
    }
}

TEST_CASE("The last lines of boxes that come together wait as in a queue of lines") {
    const auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    constexpr int kLines = 128;
    constexpr Picoseconds kPace = 600;  // a line each
    constexpr Picoseconds kSpan = kLines * kPace;
    for (int i = 0; i < test::cases(50); ++i) {
        const int boxes = 1 + static_cast<int>(random() % 60);
        const Picoseconds service = 10 + static_cast<Picoseconds>(random() % 60);  // a line
        std::vector<Picoseconds> starts;
        for (int b = 0; b < boxes; ++b)
            starts.push_back(1000000 + static_cast<Picoseconds>(random() % 300000));

        Flows flow(3);
        flow.advance(1000000);
        std::vector<Picoseconds> arrivals;
        for (const Picoseconds start : starts) {
            flow.add(1, flow.span(start, start + kSpan), kLines * service);
            for (int line = 1; line <= kLines; ++line) arrivals.push_back(start + line * kPace);
        }
        std::sort(arrivals.begin(), arrivals.end());
        std::sort(starts.begin(), starts.end());
        Picoseconds free = 0;
        std::size_t next = 0;
        for (const Picoseconds start : starts) {
            const Picoseconds end = start + kSpan;
            while (next < arrivals.size() && arrivals[next] <= end)
                free = std::max(free, arrivals[next++]) + service;
            flow.advance(end);
            // To a bucket of 33 ns, and what a box has of it.
            CHECK(static_cast<double>(flow.backlog(1, end)) ==
                  Approx(static_cast<double>(std::max<Picoseconds>(free - end, 0))).margin(33000));
            CHECK(flow.backlog(2, end) == 0);
        }
    }
}

TEST_CASE("What a foreseen server is expected to let wait is what is written down for it") {
    const auto seed = std::random_device{}();
    INFO("seed " << seed);
    std::mt19937 random(seed);
    // From hardly ever a queue to one that grows.
    for (const Picoseconds work : {2'000, 20'000, 60'000, 120'000}) {
        Flows flow(4, 2);
        Picoseconds now = 0;
        std::uint64_t waited = 0;
        for (int i = 0; i < test::cases(2000); ++i) {
            now += static_cast<Picoseconds>(random() % 30'000);
            flow.advance(now);
            const Picoseconds from = now + static_cast<Picoseconds>(random() % 200'000);
            flow.add_foreseen(random() % 2, flow.span(from, from + 300'000), work);
            const Picoseconds when = now + static_cast<Picoseconds>(random() % 600'000);
            for (const std::size_t server : {0u, 1u}) {
                REQUIRE(flow.expected(server, when) == flow.foresee(server, when));
                waited += flow.foresee(server, when) > 0 ? 1u : 0u;
            }
        }
        if (work == 2'000) CHECK(waited == 0);
        if (work == 120'000) CHECK(waited > 0);
    }
}

TEST_CASE("Boxes ask for what their lines ask for, split by home") {
    for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
             {"m=512", "n=512", "k=256"},
             {"m=500", "n=300", "k=200"},           // clipped, and rows of 400 bytes
             {"m=512", "n=512", "k=512", "bk=32"},  // half lines
             {"m=512", "n=512", "k=1032", "layout=nt"},
             {"m=512", "n=2048", "k=4096"},  // rows whose homes are known at once
             {"m=384", "n=2048", "k=4096", "bn=256"},
             {"m=512", "n=3072", "k=64"},
         }) {
        const Prepared p(arguments);
        for (std::size_t w = 0; w < p.work.walks(); ++w) {
            const auto walk = static_cast<std::int32_t>(w);
            const Tensor& tensor = p.kernel.tensors[static_cast<std::size_t>(p.work.walk(walk).tensor)];
            for (std::int64_t k = 0; k < p.work.walk_steps(walk); ++k) {
                std::uint32_t requests[2]{}, sectors[2]{};
                for_each_line(tensor, p.work.walk(walk), k, [&](const LineRequest& request) {
                    ++requests[p.map.home(request.line)];
                    sectors[p.map.home(request.line)] +=
                        static_cast<std::uint32_t>(__builtin_popcount(request.sectors));
                });
                const BoxShape& shape = p.boxes.shape(p.box(walk, k));
                for (std::size_t home = 0; home < 2; ++home) {
                    REQUIRE(shape.part[home].requests == requests[home]);
                    REQUIRE(shape.part[home].sectors == sectors[home]);
                }
            }
        }
    }
}

// The line in which one row ends and the next begins belongs to the last box and to the first: they do not
// know of each other.
TEST_CASE("What the boxes of a row take of the L2 is each of its lines once, but for where rows meet") {
    for (const char* k : {"k=1024", "k=1000", "k=1032", "k=1040"}) {
        for (const char* bk : {"bk=32", "bk=64", "bk=128"}) {
            INFO(k << " " << bk);
            const Prepared p({"m=256", "n=256", k, bk});
            for (std::size_t w = 0; w < p.work.walks(); ++w) {
                const auto walk = static_cast<std::int32_t>(w);
                if (p.work.walk_stores(walk)) continue;
                const Tensor& tensor = p.kernel.tensors[static_cast<std::size_t>(p.work.walk(walk).tensor)];
                std::set<LineNumber> lines;
                std::set<std::uint32_t> regions;
                std::uint64_t taken = 0, fetched = 0;
                for (std::int64_t step = 0; step < p.work.walk_steps(walk); ++step) {
                    for_each_line(tensor, p.work.walk(walk), step,
                                  [&](const LineRequest& request) { lines.insert(request.line); });
                    const Box& box = p.box(walk, step);
                    if (!regions.insert(box.region).second) continue;
                    for (const BoxPart& part : p.boxes.shape(box).part) {
                        taken += part.lines;
                        fetched += box.before == kNoRegion ? part.fetched : part.fetched_after;
                    }
                }
                const std::uint64_t meet = std::string(k) == "k=1024" ? 0 : 128;
                CHECK(taken >= lines.size());
                CHECK(taken <= lines.size() + meet);
                CHECK(fetched == 4 * taken);  // boxes of a tensor map bring whole lines
            }
        }
    }
}

TEST_CASE("Half-line boxes side by side are one region, and every CTA of a row loads the same boxes") {
    const Prepared p({"m=256", "n=256", "k=256", "bk=32"});
    const std::int32_t walk = p.work.loads(p.work.program(0)[0])[0];
    CHECK(p.box(walk, 0).region == p.box(walk, 1).region);
    CHECK(p.box(walk, 1).region != p.box(walk, 2).region);
    CHECK(p.box(walk, 0).id != p.box(walk, 1).id);
    // A: 2 rows of 8 boxes, B: 2 columns of 8, C: 4.
    CHECK(p.boxes.boxes() == 36);
    CHECK(p.boxes.regions() == 20);
}

TEST_CASE("Units are the steps of a phase, each once and in order, a pipeline's fill one by one") {
    const Prepared four({"m=256", "n=256", "k=4096", "stages=4"});
    const StepUnits units = StepUnits::of(four.work, 1);
    CHECK(units.steps_of_unit() == 6);  // loads run three steps ahead of the math
    for (const std::int64_t steps : {1, 2, 3, 4, 5, 6, 7, 100, 128}) {
        std::int64_t next = 0;
        for (std::int64_t unit = 0; unit < units.units(steps); ++unit) {
            REQUIRE(units.begin(unit) == next);
            const std::int64_t length = units.length(unit, steps);
            REQUIRE(length >= 1);
            REQUIRE(length <= (unit < 3 ? 1 : 6));
            next += length;
        }
        CHECK(next == steps);
    }
}

TEST_CASE("Where steps of CTAs would not fall into the same units, every step is one") {
    const auto steps_of_unit = [](const std::vector<std::string>& arguments, int ctas_per_sm) {
        const Prepared p(arguments);
        return StepUnits::of(p.work, ctas_per_sm).steps_of_unit();
    };
    CHECK(steps_of_unit({"m=256", "n=256", "k=1024", "stages=4"}, 1) == 3);  // sixteen steps
    CHECK(steps_of_unit({"m=256", "n=256", "k=1024", "stages=2"}, 1) == 1);
    CHECK(steps_of_unit({"m=256", "n=256", "k=1024", "stages=3"}, 1) == 2);
    CHECK(steps_of_unit({"m=256", "n=256", "k=1024", "stages=5"}, 1) == 4);
    CHECK(steps_of_unit({"m=256", "n=256", "k=1024", "stages=7"}, 1) == 6);
    CHECK(steps_of_unit({"m=256", "n=256", "k=1024"}, 2) == 1);
    CHECK(steps_of_unit({"m=256", "n=256", "k=1024", "bk=32"}, 1) == 1);  // two steps share lines
    CHECK(steps_of_unit({"m=256", "n=256", "k=1000"}, 1) == 1);           // rows of 2000 bytes
    CHECK(steps_of_unit({"m=256", "n=256", "k=1024", "cluster_m=2"}, 1) == 1);
    CHECK(steps_of_unit({"m=256", "n=256", "k=1024", "pipeline=warp_specialized"}, 1) == 1);
}

TEST_CASE("The box of a unit asks for what the boxes of its steps ask for") {
    const Prepared p({"m=256", "n=256", "k=4096", "stages=4"});
    const StepUnits units = StepUnits::of(p.work, 1);
    Prepared q({"m=256", "n=256", "k=4096", "stages=4"});
    const BoxTable joined(q.machine, q.work, q.map, q.serial, units);
    for (std::int32_t walk = 0; walk < static_cast<std::int32_t>(p.work.walks()); ++walk) {
        const std::int64_t steps = p.work.walk_steps(walk);
        for (std::int64_t unit = 0; unit < units.units(steps); ++unit) {
            const BoxShape& whole = joined.shape(joined.box(walk, unit));
            std::uint32_t lines[2]{}, sectors[2]{}, fetched[2]{};
            for (std::int64_t i = 0; i < units.length(unit, steps); ++i) {
                const BoxShape& step = p.boxes.shape(p.box(walk, units.begin(unit) + i));
                for (std::size_t home = 0; home < 2; ++home) {
                    lines[home] += step.part[home].lines;
                    sectors[home] += step.part[home].sectors;
                    fetched[home] += step.part[home].fetched;
                }
            }
            for (std::size_t home = 0; home < 2; ++home) {
                REQUIRE(whole.part[home].lines == lines[home]);
                REQUIRE(whole.part[home].sectors == sectors[home]);
                REQUIRE(whole.part[home].fetched == fetched[home]);
            }
        }
        CHECK(joined.totals(walk).sectors == p.boxes.totals(walk).sectors);
    }
}

TEST_CASE("Who shares a turn with more waits longer, by half as much again, and all together as without") {
    const Machine machine = load_machine("h200");
    const std::vector<TurnShare> shares = turn_shares(machine);
    REQUIRE(shares.size() == machine.sms.size());
    std::map<int, std::vector<std::size_t>> sms_of_partition, sms_of_gpc;
    for (std::size_t i = 0; i < shares.size(); ++i) {
        sms_of_partition[machine.sms[i].partition].push_back(i);
        sms_of_gpc[machine.sms[i].gpc].push_back(i);
    }
    const auto in_proportion = [](double share) { return 1 + (share - 1) / 1.5; };
    const auto members = [&](std::size_t i) {
        return static_cast<double>(sms_of_gpc[machine.sms[i].gpc].size());
    };
    for (const auto& [gpc, sms] : sms_of_gpc) {
        std::map<int, double> size;
        for (const std::size_t i : sms) ++size[machine.sms[i].cpc];
        const std::size_t first = sms.front();
        double all = 0;
        for (const std::size_t i : sms) {
            all += shares[i].gpc_port;
            CHECK(in_proportion(shares[i].gpc_port) / in_proportion(shares[first].gpc_port) ==
                  Approx(size[machine.sms[i].cpc] / size[machine.sms[first].cpc]));
        }
        CHECK(all == Approx(members(first)));
    }
    for (const auto& [partition, sms] : sms_of_partition) {
        const auto of_gpc = [&](std::size_t i) {
            return in_proportion(shares[i].slices) / in_proportion(shares[i].gpc_port);
        };
        const std::size_t first = sms.front();
        double all = 0;
        for (const std::size_t i : sms) {
            all += shares[i].slices;
            CHECK(of_gpc(i) / of_gpc(first) == Approx(members(i) / members(first)));
        }
        CHECK(all == Approx(static_cast<double>(sms.size())));
    }
}

TEST_CASE("Nobody waits for less than no time, however few share a turn") {
    Machine machine = load_machine("h200");
    for (Sm& sm : machine.sms) sm.gpc = sm.partition = 0;
    machine.sms.front().gpc = 1;
    for (const TurnShare& share : turn_shares(machine)) {
        CHECK(share.slices >= 0);
        CHECK(share.gpc_port >= 0);
    }
}

TEST_CASE("A machine of more partitions than the tile engine knows is refused") {
    Prepared p({"m=256", "n=256", "k=256"});
    p.machine.partitions = 4;
    CHECK_THROWS_WITH(BoxTable(p.machine, p.work, p.map, p.serial), ContainsSubstring("--engine line"));
}

// The oracle is the queue itself: lines that come by chance, each a service time long (Lindley's recursion).
TEST_CASE("Longer waits of a slice's queue are rarer as FullestSlice says") {
    const FullestSlice fullest;
    const auto seed = static_cast<std::uint64_t>(std::random_device{}());
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    for (const double load : {0.3, 0.5, 0.8}) {
        INFO("load " << load);
        std::exponential_distribution<double> until_next(load);
        constexpr int kLines = 8'000'000;
        const double step = load < 0.6 ? 1 : 2;  // service times
        double wait = 0, any = 0, long_ones = 0, longer_ones = 0;
        for (int line = 0; line < kLines; ++line) {
            wait = std::max(wait + 1 - until_next(random), 0.0);
            any += wait > 0 ? 1 : 0;
            long_ones += wait > 2 * step ? 1 : 0;
            longer_ones += wait > 3 * step ? 1 : 0;
        }
        CHECK(std::exp(fullest.log_waiting(load)) == Approx(any / kLines).epsilon(0.02));
        CHECK(std::exp(-step / fullest.scale(load)) == Approx(longer_ones / long_ones).epsilon(0.1));
    }
    CHECK(fullest.scale(0) == 0);                 // nobody waits
    CHECK(fullest.scale(2) == fullest.scale(1));  // what is beyond is no matter of chance
}
