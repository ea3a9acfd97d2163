// SPDX-License-Identifier: Apache-2.0
// Which CTA goes where: the first wave by the machine's table, later ones where a place falls free.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>
#include <set>
#include <utility>
#include <vector>

#include "load/machine_file.hpp"
#include "schedule/dispatcher.hpp"
#include "schedule/exit_reports.hpp"
#include "support/catch.hpp"

using namespace l2lens;

namespace {

constexpr int kAlone = 1;  // CTAs of a cluster

std::vector<std::int32_t> launches(std::int32_t count) {
    std::vector<std::int32_t> ids(static_cast<std::size_t>(count));
    std::iota(ids.begin(), ids.end(), 0);
    return ids;
}

std::vector<std::int32_t> tiles(const std::vector<Start>& starts) {
    std::vector<std::int32_t> list;
    for (const Start& start : starts) list.push_back(start.tile);
    return list;
}

Exit leave(const Start& start, double after_ns) {
    const Picoseconds time = start.time + from_ns(after_ns);
    return {time, time, start.slot, start.tile};
}

// All of them at one moment.
std::vector<Exit> all_leave(const std::vector<Start>& starts, Picoseconds left) {
    std::vector<Exit> exits;
    for (const Start& start : starts) exits.push_back({left, left, start.slot, start.tile});
    return exits;
}

// An H200 whose grids' dispatcher comes to a GPC every 64 ns, and whose CTAs leave up to `exit_jitter_ns`
// late.
constexpr Picoseconds kRound = from_ns(64);
Machine with_rounds(double exit_jitter_ns) {
    Machine machine = load_machine("h200");
    machine.launch.exit_round_ns = 64;
    machine.launch.exit_jitter_ns = exit_jitter_ns;
    return machine;
}

}  // namespace

TEST_CASE("The first wave fills the SMs in the machine's order, a stagger apart") {
    Machine machine = load_machine("h200");
    machine.launch.rotates = false;
    const auto ids = launches(500);
    Dispatcher dispatcher(machine, ids, Mode::Grid, 1, kAlone);
    const auto starts = dispatcher.first_wave();
    REQUIRE(starts.size() == 132);
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const Start& start = starts[i];
        CHECK(start.tile == static_cast<std::int32_t>(i));
        CHECK(machine.sms[static_cast<std::size_t>(start.slot)].first_wave_position == start.tile);
        CHECK(start.time == static_cast<Picoseconds>(i) * from_ns(machine.launch.stagger_ns));
    }
    CHECK(dispatcher.launched() == 132);
}

TEST_CASE("Where CTAs are dealt to dies in turn, a dynamic first wave draws its tiles in that order") {
    const Machine machine = load_machine("mi300x");
    REQUIRE(machine.launch.round_robin);
    const auto ids = launches(304);
    const auto slots_of = [&](Mode mode) {
        std::vector<std::int32_t> slots;
        for (const Start& start : Dispatcher(machine, ids, mode, 1, kAlone).first_wave())
            slots.push_back(start.slot);
        return slots;
    };
    CHECK(slots_of(Mode::Dynamic) == slots_of(Mode::Static));
    CHECK(machine.sms[static_cast<std::size_t>(slots_of(Mode::Dynamic)[1])].partition == 1);
}

TEST_CASE("Launch-consecutive CTAs of the first wave fill one GPC after another") {
    Machine machine = load_machine("h200");
    machine.launch.rotates = false;
    const auto ids = launches(132);
    Dispatcher dispatcher(machine, ids, Mode::Grid, 1, kAlone);
    std::vector<std::pair<int, int>> runs;  // GPC, CTAs that follow each other there
    for (const Start& start : dispatcher.first_wave()) {
        const int gpc = machine.sms[static_cast<std::size_t>(start.slot)].gpc;
        if (runs.empty() || runs.back().first != gpc) runs.emplace_back(gpc, 0);
        ++runs.back().second;
    }
    // As traces/h200/topology.csv has them by first_wave_position; the recorded launch comes back to GPC 0.
    CHECK(runs == std::vector<std::pair<int, int>>{
                      {0, 8}, {6, 18}, {7, 18}, {0, 8}, {1, 16}, {2, 16}, {3, 16}, {4, 16}, {5, 16}});
}

TEST_CASE("With several CTAs per SM each SM gets its first before any gets its second") {
    const Machine machine = load_machine("tiny");
    const auto ids = launches(100);
    Dispatcher dispatcher(machine, ids, Mode::Grid, 3, kAlone);
    const auto starts = dispatcher.first_wave();
    REQUIRE(starts.size() == 12);
    std::set<std::int32_t> slots;
    for (std::size_t i = 0; i < starts.size(); ++i) {
        CHECK(starts[i].slot / 3 == static_cast<std::int32_t>(i % 4));
        slots.insert(starts[i].slot);
    }
    CHECK(slots.size() == 12);
}

TEST_CASE("The CTAs of a grid's clusters follow each other a cluster gap later") {
    Machine machine = load_machine("tiny");
    machine.launch.cluster_gap_ns = 64;
    const auto ids = launches(6);
    for (const Mode mode : {Mode::Grid, Mode::Dynamic}) {
        Dispatcher dispatcher(machine, ids, mode, 1, 2);
        const auto first = dispatcher.first_wave();
        REQUIRE(first.size() == 4);
        const auto next = dispatcher.follow(std::vector<Exit>{leave(first[0], 500), leave(first[1], 500)}, 0);
        REQUIRE(next.size() == 2);
        const double gap =
            mode == Mode::Grid ? machine.launch.cta_gap_ns + 64 : machine.launch.persistent_gap_ns;
        CHECK(next[0].time == std::max(first[0].time, first[1].time) + from_ns(500 + gap));
    }
}

TEST_CASE("A free place takes the next launch id, the first that fell free before the others") {
    const Machine machine = load_machine("tiny");
    const auto ids = launches(7);
    Dispatcher dispatcher(machine, ids, Mode::Grid, 1, kAlone);
    const auto first = dispatcher.first_wave();
    REQUIRE(tiles(first) == std::vector<std::int32_t>{0, 1, 2, 3});
    const std::vector<Exit> exits{leave(first[0], 900), leave(first[2], 500)};
    const auto next = dispatcher.follow(exits, 0);
    REQUIRE(tiles(next) == std::vector<std::int32_t>{4, 5});
    CHECK(next[0].slot == first[2].slot);
    CHECK(next[0].time == exits[1].time + from_ns(machine.launch.cta_gap_ns));
    CHECK(next[1].slot == first[0].slot);
    const std::vector<Exit> more{leave(next[0], 10), leave(next[1], 10)};
    const auto last = dispatcher.follow(more, from_ns(5000));
    REQUIRE(tiles(last) == std::vector<std::int32_t>{6});
    CHECK(last[0].time == from_ns(5000));  // not before
    CHECK(dispatcher.launched() == 7);
    CHECK(dispatcher.follow(std::vector<Exit>{leave(last[0], 10)}, 0).empty());
}

TEST_CASE("A grid's dispatcher hears at once of all that left a GPC since it came to it last") {
    const Machine machine = with_rounds(0);
    const ExitReports reports(machine, Mode::Grid);
    RandomStream random(0, 0);
    for (int gpc = 0; gpc < machine.gpcs; ++gpc) {
        const Picoseconds turn = 10 * kRound + kRound * gpc / machine.gpcs;  // the GPCs in turn, once a round
        CHECK(reports.heard(turn, gpc, random) == turn);
        CHECK(reports.heard(turn + 1, gpc, random) == turn + kRound);
        CHECK(reports.heard(turn + kRound / 2, gpc, random) == turn + kRound);
        CHECK(reports.heard(turn + kRound, gpc, random) == turn + kRound);
    }
}

TEST_CASE("A grid's CTA that is through just before its GPC's turn may leave just after it") {
    const ExitReports reports(with_rounds(10), Mode::Grid);
    RandomStream random(0, 0);
    const Picoseconds turn = 10 * kRound;  // of GPC 0
    int missed = 0;
    constexpr int kTimes = 1000;
    for (int i = 0; i < kTimes; ++i) {
        const Picoseconds heard = reports.heard(turn - from_ns(4), 0, random);
        CHECK((heard == turn || heard == turn + kRound));
        missed += heard == turn ? 0 : 1;
    }
    // By six of ten nanoseconds; of so many times four standard deviations.
    CHECK(missed / double{kTimes} == Approx(0.6).margin(4 * std::sqrt(0.6 * 0.4 / kTimes)));
}

TEST_CASE("A persistent CTA goes on by itself, and so does a grid's where there are no rounds") {
    Machine machine = load_machine("h200");
    machine.launch.persistent_jitter_ns = machine.launch.exit_jitter_ns = 5;
    Machine no_rounds = machine;
    no_rounds.launch.exit_round_ns = 0;
    RandomStream random(0, 0);
    for (const ExitReports& reports :
         {ExitReports(machine, Mode::Static), ExitReports(machine, Mode::Dynamic),
          ExitReports(no_rounds, Mode::Grid)}) {
        std::set<Picoseconds> times;
        for (int i = 0; i < 100; ++i) times.insert(reports.heard(from_ns(1000), 3, random));
        CHECK(times.size() > 90);
        CHECK(*times.begin() >= from_ns(1000));
        CHECK(*times.rbegin() <= from_ns(1005));
    }
}

TEST_CASE("What follows in a GPC at once begins together, sooner or later") {
    Machine machine = load_machine("h200");
    machine.launch.start_jitter_ns = 100;
    machine.launch.interval_ns = 0;
    const auto ids = launches(2000);
    Dispatcher dispatcher(machine, ids, Mode::Grid, 1, kAlone);
    auto starts = dispatcher.first_wave();
    std::set<Picoseconds> gaps;
    for (int round = 1; round < 10; ++round) {
        const Picoseconds left = from_ns(1000.0 * round);
        starts = dispatcher.follow(all_leave(starts, left), 0);
        REQUIRE(starts.size() == 132);
        std::vector<std::set<Picoseconds>> of_gpc(static_cast<std::size_t>(machine.gpcs));
        for (const Start& start : starts) {
            const Sm& sm = machine.sms[static_cast<std::size_t>(start.slot)];
            of_gpc[static_cast<std::size_t>(sm.gpc)].insert(start.time - left);
        }
        for (const auto& of_one : of_gpc) {
            CHECK(of_one.size() == 1);
            gaps.insert(of_one.begin(), of_one.end());
        }
    }
    CHECK(gaps.size() > 60);  // of 72 moments
    CHECK(*gaps.begin() >= from_ns(machine.launch.cta_gap_ns));
    CHECK(*gaps.rbegin() <= from_ns(machine.launch.cta_gap_ns + 100));
    CHECK(*gaps.rbegin() - *gaps.begin() >= from_ns(80));
}

TEST_CASE("What the dispatcher hears of at once starts one after the other on each GPC") {
    Machine machine = load_machine("h200");
    machine.launch.start_jitter_ns = 0;
    machine.launch.interval_ns = 6;
    const auto ids = launches(264);
    Dispatcher dispatcher(machine, ids, Mode::Grid, 1, kAlone);
    const Picoseconds left = from_ns(1000);
    const auto starts = dispatcher.follow(all_leave(dispatcher.first_wave(), left), 0);
    REQUIRE(starts.size() == 132);
    std::vector<Picoseconds> next(static_cast<std::size_t>(machine.gpcs),
                                  left + from_ns(machine.launch.cta_gap_ns));
    for (const Start& start : starts) {
        const int gpc = machine.sms[static_cast<std::size_t>(start.slot)].gpc;
        CHECK(start.time == next[static_cast<std::size_t>(gpc)]);
        next[static_cast<std::size_t>(gpc)] = start.time + from_ns(6);
    }
    // Persistent CTAs do not meet in the dispatcher.
    Dispatcher persistent(machine, ids, Mode::Static, 1, kAlone);
    for (const Start& start : persistent.follow(all_leave(persistent.first_wave(), left), 0))
        CHECK(start.time == left + from_ns(machine.launch.persistent_gap_ns));
}

TEST_CASE("Over seeds a gap is uniform over the jitter beyond the machine's own") {
    Machine machine = load_machine("h200");
    machine.launch.start_jitter_ns = 100;
    const auto ids = launches(264);
    const Picoseconds left = from_ns(1000);
    constexpr int kSeeds = 2000;
    double sum = 0, squares = 0;
    for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
        Dispatcher dispatcher(machine, ids, Mode::Grid, 1, kAlone, seed);
        const Start first = dispatcher.first_wave().front();
        const std::vector<Exit> exits{{left, left, first.slot, first.tile}};
        const Picoseconds gap = dispatcher.follow(exits, 0).front().time - left;
        const double beyond = static_cast<double>(gap) / kPsPerNs - machine.launch.cta_gap_ns;
        CHECK(beyond >= 0);
        CHECK(beyond <= 100);
        sum += beyond / kSeeds;
        squares += beyond * beyond / kSeeds;
    }
    // Of a uniform over 100 ns: mean 50, standard deviation 100 / sqrt(12), known to 1 / sqrt(n) and 0.45 /
    // sqrt(n) of that.
    const double deviation = 100 / std::sqrt(12.0);
    const double error = deviation / std::sqrt(static_cast<double>(kSeeds));
    CHECK(std::abs(sum - 50) < 4 * error);
    CHECK(std::abs(std::sqrt(squares - sum * sum) - deviation) < 4 * 0.45 * error);
}

TEST_CASE("A statically persistent CTA takes every P-th tile, in whatever order the CTAs finish") {
    const Machine machine = load_machine("tiny");
    const auto ids = launches(11);
    Dispatcher dispatcher(machine, ids, Mode::Static, 2, kAlone);  // still one CTA per SM
    auto starts = dispatcher.first_wave();
    REQUIRE(tiles(starts) == std::vector<std::int32_t>{0, 1, 2, 3});
    std::vector<std::vector<std::int32_t>> tiles_of_slot(8);
    while (!starts.empty()) {
        std::vector<Exit> exits;
        for (const Start& start : starts) {
            tiles_of_slot[static_cast<std::size_t>(start.slot)].push_back(start.tile);
            exits.push_back(leave(start, start.tile % 3 == 0 ? 900 : 100));
        }
        std::reverse(exits.begin(), exits.end());
        starts = dispatcher.follow(exits, 0);
    }
    CHECK(tiles_of_slot[0] == std::vector<std::int32_t>{0, 4, 8});
    CHECK(tiles_of_slot[2] == std::vector<std::int32_t>{1, 5, 9});
    CHECK(tiles_of_slot[4] == std::vector<std::int32_t>{2, 6, 10});
    CHECK(tiles_of_slot[6] == std::vector<std::int32_t>{3, 7});
}

TEST_CASE("A dynamically persistent CTA draws the next tile when it is done with one") {
    const Machine machine = load_machine("tiny");
    const auto ids = launches(6);
    Dispatcher dispatcher(machine, ids, Mode::Dynamic, 1, kAlone);
    const auto first = dispatcher.first_wave();
    const std::vector<Exit> exits{leave(first[3], 50)};
    const auto next = dispatcher.follow(exits, 0);
    REQUIRE(tiles(next) == std::vector<std::int32_t>{4});
    CHECK(next[0].slot == first[3].slot);
    CHECK(next[0].time == exits[0].time + from_ns(machine.launch.persistent_gap_ns));
}

TEST_CASE("A no-op CTA holds its place for a launch gap and no longer") {
    const Machine machine = load_machine("tiny");
    const std::vector<std::int32_t> ids{0, -1, 2, 3, 4, -1, -1, 7};
    Dispatcher dispatcher(machine, ids, Mode::Grid, 1, kAlone);
    const auto starts = dispatcher.first_wave();
    // The second place is free again a gap after the no-op came.
    REQUIRE(tiles(starts) == std::vector<std::int32_t>{0, 2, 3, 4});
    CHECK(starts[3].slot == 1);
    CHECK(starts[3].time == from_ns(machine.launch.stagger_ns) + from_ns(machine.launch.cta_gap_ns));
    const std::vector<Exit> exits{leave(starts[0], 1000)};
    const auto next = dispatcher.follow(exits, 0);
    REQUIRE(tiles(next) == std::vector<std::int32_t>{7});
    CHECK(next[0].time == exits[0].time + 3 * from_ns(machine.launch.cta_gap_ns));  // two no-ops before it
    CHECK(dispatcher.launched() == 8);
}

TEST_CASE("Fewer CTAs than SMs leave the last SMs of the order idle") {
    const Machine machine = load_machine("tiny");
    const auto ids = launches(3);
    for (const Mode mode : {Mode::Grid, Mode::Static, Mode::Dynamic}) {
        Dispatcher dispatcher(machine, ids, mode, 1, kAlone);
        CHECK(tiles(dispatcher.first_wave()) == std::vector<std::int32_t>{0, 1, 2});
        CHECK(dispatcher.launched() == 3);
    }
}

TEST_CASE("Where launches rotate, eight seeds begin on as many GPCs, after the SMs that are apart") {
    const Machine machine = load_machine("h200");
    REQUIRE(machine.launch.rotates);
    const auto ids = launches(132);
    std::set<int> first_gpcs;
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const auto starts = Dispatcher(machine, ids, Mode::Static, 1, kAlone, seed).first_wave();
        REQUIRE(starts.size() == 132);
        std::set<std::int32_t> sms;
        std::vector<int> gpcs;  // behind those that are apart, each once
        for (std::size_t i = 0; i < starts.size(); ++i) {
            sms.insert(starts[i].slot);
            CHECK((starts[i].slot >= 124) == (i < 8));
            const int gpc = machine.sms[static_cast<std::size_t>(starts[i].slot)].gpc;
            if (i >= 8 && (gpcs.empty() || gpcs.back() != gpc)) gpcs.push_back(gpc);
        }
        CHECK(sms.size() == 132);
        REQUIRE(gpcs.size() == 8);
        for (std::size_t i = 1; i < gpcs.size(); ++i) CHECK(gpcs[i] == (gpcs[i - 1] + 1) % 8);
        first_gpcs.insert(gpcs.front());
    }
    CHECK(first_gpcs.size() == 8);
}

TEST_CASE("Whichever recorded launch a machine's first wave is of, its launches are the same") {
    const Machine machine = load_machine("h200");
    const auto ids = launches(132);
    const auto slots = [&](const Machine& on, std::uint64_t seed) {
        std::vector<std::int32_t> all;
        for (const Start& start : Dispatcher(on, ids, Mode::Static, 1, kAlone, seed).first_wave())
            all.push_back(start.slot);
        return all;
    };
    for (std::uint64_t other = 0; other < 8; ++other) {
        INFO("the machine file has the launch of seed " << other);
        Machine recorded = machine;
        const auto launch = slots(machine, other);
        for (std::size_t i = 0; i < launch.size(); ++i)
            recorded.sms[static_cast<std::size_t>(launch[i])].first_wave_position = static_cast<int>(i);
        for (std::uint64_t seed = 0; seed < 8; ++seed) CHECK(slots(recorded, seed) == slots(machine, seed));
    }
}

TEST_CASE("The first wave's clusters go by SM ids, after the SMs that are apart") {
    Machine machine = load_machine("h200");
    machine.launch.rotates = false;
    const auto ids = launches(132);
    Dispatcher dispatcher(machine, ids, Mode::Grid, 1, 2);
    const auto starts = dispatcher.first_wave();
    REQUIRE(starts.size() == 132);
    std::set<int> gpcs_of_the_first;
    for (std::size_t cluster = 0; cluster < 66; ++cluster) {
        const Start& first = starts[2 * cluster];
        const Start& second = starts[2 * cluster + 1];
        CHECK(machine.sms[static_cast<std::size_t>(first.slot)].gpc ==
              machine.sms[static_cast<std::size_t>(second.slot)].gpc);
        CHECK((first.slot >= 124) == (cluster < 4));
        if (cluster > 4) CHECK(first.slot > starts[2 * cluster - 2].slot);
        if (cluster < 12) gpcs_of_the_first.insert(machine.sms[static_cast<std::size_t>(first.slot)].gpc);
    }
    CHECK(std::ssize(gpcs_of_the_first) == machine.gpcs);  // not one after the other
}

TEST_CASE("What a static CTA does next is settled when it begins, what others do is not") {
    const Machine machine = load_machine("tiny");  // four SMs
    const auto ids = launches(10);
    for (const Mode mode : {Mode::Grid, Mode::Static, Mode::Dynamic}) {
        Dispatcher dispatcher(machine, ids, mode, 1, kAlone);
        const auto starts = dispatcher.first_wave();
        REQUIRE(starts.size() == 4);
        for (const Start& start : starts) CHECK(start.next == (mode == Mode::Static ? start.tile + 4 : -1));
        if (mode != Mode::Static) continue;
        const Exit exits[] = {leave(starts[0], 100), leave(starts[2], 200)};
        const auto second = dispatcher.follow(exits, 0);
        REQUIRE(second.size() == 2);
        CHECK(second[0].next == 8);   // after tile 4
        CHECK(second[1].next == -1);  // after tile 6 there is none
    }
}

TEST_CASE("What dynamic CTAs draw ahead goes by when they draw, and is theirs when they leave") {
    const Machine machine = load_machine("tiny");  // four SMs
    const auto ids = launches(7);
    Dispatcher dispatcher(machine, ids, Mode::Dynamic, 1, kAlone);
    const auto starts = dispatcher.first_wave();
    REQUIRE(starts.size() == 4);
    const Draw draws[] = {
        {300, starts[1].slot}, {200, starts[3].slot}, {200, starts[0].slot}, {400, starts[2].slot}};
    const auto drawn = dispatcher.draw(draws);
    REQUIRE(drawn.size() == 3);  // three tiles are left for four CTAs
    CHECK(drawn[0].tile == 4);
    CHECK(drawn[0].slot == std::min(starts[0].slot, starts[3].slot));  // of one moment
    CHECK(drawn[0].time == 200);
    CHECK(drawn[1].tile == 5);
    CHECK(drawn[2].tile == 6);
    CHECK(drawn[2].slot == starts[1].slot);
    // It leaves first and yet takes what it has drawn; who has drawn nothing finds nothing.
    const Exit exits[] = {leave(starts[1], 500), leave(starts[2], 600)};
    const auto second = dispatcher.follow(exits, 0);
    REQUIRE(second.size() == 1);
    CHECK(second[0].slot == starts[1].slot);
    CHECK(second[0].tile == 6);
}

TEST_CASE("Only dynamic launches draw") {
    const Machine machine = load_machine("tiny");
    const auto ids = launches(8);
    Dispatcher dispatcher(machine, ids, Mode::Static, 1, kAlone);
    const auto starts = dispatcher.first_wave();
    const Draw draws[] = {{300, starts[1].slot}};
    CHECK(dispatcher.draw(draws).empty());
}
