// SPDX-License-Identifier: Apache-2.0
// Dies with L2s of their own in front of one cache (MI300X), and what accesses tell the L2: counted by hand
// on the teaching GPU made into such a machine.
#include <algorithm>
#include <string>
#include <vector>

#include "counters/metrics.hpp"
#include "load/machine_file.hpp"
#include "machine/topology.hpp"
#include "schedule/dispatcher.hpp"
#include "support/catch.hpp"
#include "support/complaint.hpp"
#include "support/streams.hpp"

using namespace l2lens;
using test::reads;
using test::StreamRun;
using test::writes;

namespace {

// Two dies with 16 lines each; a cache of `lines` lines behind both.
Machine two_dies(std::int64_t lines) {
    Machine machine = load_machine("tiny");
    machine.l2.private_partitions = true;
    machine.hash.home_masks.clear();
    machine.last_level.bytes = lines * kLineBytes;
    machine.last_level.ways = static_cast<int>(lines);
    machine.last_level.latency_ns = 30;
    machine.last_level.bytes_per_ns = 1000;
    return machine;
}

std::vector<LineNumber> first_lines(std::size_t count) {
    std::vector<LineNumber> lines(count);
    for (std::size_t i = 0; i < count; ++i) lines[i] = static_cast<LineNumber>(i);
    return lines;
}

}  // namespace

TEST_CASE("Each die fetches a line for itself, and the memory is read once for both") {
    const Machine machine = two_dies(1024);
    StreamRun run(machine, {0}, 1);
    const auto lines = first_lines(8);
    run.run({reads(0, lines)});
    CHECK(run.events()[Event::FillSectors] == 8 * 4);
    CHECK(run.events()[Event::LastLevelHits] == 0);
    run.run({reads(1, lines)});  // the other die
    CHECK(run.events()[Event::TexReadMisses] == 2 * 8 * 4);
    CHECK(run.events()[Event::LastLevelSectors] == 2 * 8 * 4);
    CHECK(run.events()[Event::LastLevelHits] == 8 * 4);
    CHECK(run.events()[Event::FillSectors] == 8 * 4);
    RunTotals totals;
    totals.scale = 1;
    const auto counters = evaluate_metrics(MetricKind::Hardware, run.events(), totals);
    CHECK(counters.at("TCC_REQ_sum") == 2 * 8);
    CHECK(counters.at("TCC_MISS_sum") == 2 * 8);
    CHECK(counters.at("TCC_HIT_sum") == 0);
    CHECK(run.events()[Event::FabricReadSectors] == 0);  // no line has a home among the L2s
    run.run({reads(0, lines), reads(1, lines)});
    CHECK(run.events()[Event::LastLevelSectors] == 2 * 8 * 4);  // both have them now
}

TEST_CASE("A line that only the last level has comes sooner than one from the memory, and later than a hit") {
    const Machine machine = two_dies(1024);
    StreamRun run(machine, {0}, 1);
    const std::vector<LineNumber> line{3};
    std::vector<Picoseconds> times;
    for (const int gpc : {0, 1, 1}) {  // memory, last level, own L2
        run.run({reads(gpc, line)});
        times.push_back(run.arrivals().back());
    }
    CHECK(times[0] > times[1]);
    CHECK(times[1] > times[2]);
}

TEST_CASE("What a die writes back goes past the last level to the memory") {
    const Machine machine = two_dies(1024);
    StreamRun run(machine, {0}, 1);
    const auto lines = first_lines(64);  // four times what a die's L2 holds
    run.run({writes(0, lines)});
    CHECK(run.events()[Event::TexWriteSectors] == 64 * 4);
    CHECK(run.events()[Event::WritebackSectors] >= (64 - 16) * 4);
    CHECK(run.events()[Event::LastLevelSectors] == 0);
    CHECK(run.events()[Event::FabricWriteSectors] == 0);
}

TEST_CASE("Workgroups are dealt to the dies in turn, whoever is free") {
    const Machine machine = load_machine("mi300x");
    std::vector<std::int32_t> ids(1000);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i);
    Dispatcher dispatcher(machine, ids, Mode::Grid, 1, 1);
    const auto die_of = [&](const Start& start) {
        return machine.sms[static_cast<std::size_t>(start.slot)].partition;
    };
    std::vector<Start> starts = dispatcher.first_wave();
    REQUIRE(starts.size() == 304);
    for (const Start& start : starts) CHECK(die_of(start) == start.tile % 8);
    // Only CTAs of die 5 leave: the next ones of die 5 follow, and nobody else's.
    std::vector<Exit> exits;
    for (const Start& start : starts) {
        const Picoseconds time = start.time + from_ns(1000);
        if (die_of(start) == 5) exits.push_back({time, time, start.slot, start.tile});
    }
    const std::vector<Start> next = dispatcher.follow(exits, 0);
    REQUIRE(next.size() == 38);
    for (const Start& start : next) {
        CHECK(die_of(start) == 5);
        CHECK(start.tile % 8 == 5);
        CHECK(start.tile >= 304);
    }
}

TEST_CASE("On fewer CUs than dies all workgroups are launched, dealt to the dies that have one") {
    Machine machine = load_machine("mi300x");
    keep_sms(machine, 3);
    std::vector<std::int32_t> ids(100);
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i);
    Dispatcher dispatcher(machine, ids, Mode::Grid, 1, 1);
    std::vector<Start> running = dispatcher.first_wave();
    std::vector<int> launched(ids.size(), 0);
    while (!running.empty()) {
        std::vector<Exit> exits;
        for (const Start& start : running) {
            ++launched[static_cast<std::size_t>(start.tile)];
            exits.push_back({start.time + from_ns(1000), start.time + from_ns(1000), start.slot, start.tile});
        }
        running = dispatcher.follow(exits, 0);
    }
    CHECK(launched == std::vector<int>(ids.size(), 1));
    CHECK(dispatcher.all_launched());
}

TEST_CASE("A partition of an MI300X has its dies' CUs and L2s and its share of the memory") {
    const Machine whole = load_machine("mi300x");
    struct Row {
        const char* mode;
        int dies, memories;
    };
    for (const Row& row :
         {Row{"spx", 8, 1}, Row{"dpx", 4, 1}, Row{"qpx", 2, 1}, Row{"cpx", 1, 1}, Row{"cpx-nps4", 1, 4}}) {
        INFO(row.mode);
        const Machine part = load_machine(std::string("mi300x:") + row.mode);
        CHECK(part.partitions == row.dies);
        CHECK(std::ssize(part.sms) == 38 * row.dies);
        CHECK(part.l2_bytes() == row.dies * (std::int64_t{4} << 20));
        CHECK(part.last_level.bytes * row.memories == whole.last_level.bytes);
        CHECK(part.bandwidth.dram_bytes_per_ns * row.memories == whole.bandwidth.dram_bytes_per_ns);
        std::vector<std::int32_t> ids(part.sms.size());
        for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = static_cast<std::int32_t>(i);
        Dispatcher dispatcher(part, ids, Mode::Grid, 1, 1);
        for (const Start& start : dispatcher.first_wave())
            CHECK(part.sms[static_cast<std::size_t>(start.slot)].partition == start.tile % row.dies);
    }
    const auto refusal = [](const char* name) { return test::complaint_of([&] { load_machine(name); }); };
    CHECK_THAT(refusal("mi300x:spx-nps4"), ContainsSubstring("no more memory than compute"));
    CHECK_THAT(refusal("mi300x:tpx"), ContainsSubstring("it is spx, dpx, qpx or cpx"));
    CHECK_THAT(refusal("h200:cpx"), ContainsSubstring("no partition modes"));
}

TEST_CASE(
    "A line read to be evicted first leaves before older ones, one to be evicted last after younger ones") {
    SectorCache cache(1, 4);
    using Priority = SectorCache::Priority;
    const auto present = [&](LineNumber line) { return cache.contains(0, line); };
    cache.find_or_allocate(0, 1);
    cache.find_or_allocate(0, 2);
    cache.find_or_allocate(0, 3, Priority::EvictFirst);
    cache.find_or_allocate(0, 4);
    cache.find_or_allocate(0, 5);  // takes the place of 3, the youngest but one
    CHECK_FALSE(present(3));
    CHECK((present(1) && present(2) && present(4)));

    cache.find_or_allocate(0, 1, Priority::EvictLast);
    for (LineNumber line = 10; line < 30; ++line) cache.find_or_allocate(0, line);
    CHECK(present(1));             // twenty younger lines went through the other ways
    cache.find_or_allocate(0, 1);  // an access without the hint gives it up
    for (LineNumber line = 30; line < 34; ++line) cache.find_or_allocate(0, line);
    CHECK_FALSE(present(1));
}
