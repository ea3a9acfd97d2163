// SPDX-License-Identifier: Apache-2.0
// A replay gives the counters of the run it was recorded from: every event, in every lane, whatever the
// order, mode, sample, seed, kind of record and number of threads.
#include <algorithm>
#include <fstream>

#include "base/error.hpp"
#include "parallel/tbb_executor.hpp"
#include "support/catch.hpp"
#include "trace/text.hpp"
#include "trace/writer.hpp"

#include "trace_support.hpp"

using namespace l2lens;
using namespace l2lens::test;

namespace {

ReplayResult replay_of(const std::string& trace, const Machine& machine, Executor& executor) {
    const auto reader = reader_of(trace);
    ReplayResult result = replay(*reader, machine, {}, executor);
    CHECK(reader->warning().empty());
    return result;
}

std::string sample_path(const std::string& name) {
    return std::string(L2LENS_SOURCE_DIR) + "/traces/samples/" + name;
}

// A box trace's requests as text.
std::string as_text(const std::string& trace, const Machine& machine) {
    const auto reader = reader_of(trace);
    const AddressMap map(machine, reader->header().seed);
    const LaneSample sample(reader->header().lanes_of, reader->header().lanes);
    const BoxExpander expand(machine, map, sample, reader->header().tensors);
    std::ostringstream out;
    TextTraceWriter writer(out, reader->header());
    TraceEnd end;
    for (const BoxRecord& box : boxes_of(*reader)) {
        end.sectors += expand(box, reader->walks()[box.walk], [&](const LineRecord& line, int) {
            writer.add(line);
            ++end.records;
        });
    }
    writer.finish(end);
    return out.str();
}

// Replays a run from its boxes, from its requests and from their text; returns its events.
Events check_every_form(const Machine& machine, const Kernel& kernel, RunSpec spec) {
    TbbExecutor executor(2);
    spec.kind = RecordKind::Box;
    const Recorded boxes = record_run(machine, kernel, spec, executor);
    spec.kind = RecordKind::Line;
    const Recorded lines = record_run(machine, kernel, spec, executor);
    const Events& events = boxes.run.events;
    CHECK(lines.run.events == events);
    CHECK(replay_of(boxes.trace, machine, executor).events == events);
    CHECK(replay_of(lines.trace, machine, executor).events == events);
    CHECK(replay_of(as_text(boxes.trace, machine), machine, executor).events == events);
    return events;
}

template <class Change>
void for_each_box(Kernel& kernel, Change&& change) {
    for (Program& program : kernel.programs) {
        for (Phase& phase : program.phases) {
            for (BoxWalk& box : phase.loads) change(box);
            for (BoxWalk& box : phase.stores) change(box);
        }
    }
}

}  // namespace

TEST_CASE("A replay has the events of its run") {
    const Machine machine = load_machine("h200");
    SerialExecutor serial;
    TbbExecutor threads(2);
    struct Case {
        std::vector<std::string> params;
        RunSpec spec;
    };
    const std::vector<Case> cases{
        {{"m=1024", "n=1024", "k=512"}, {"row_major", Mode::Grid, 47, 0, RecordKind::Box}},
        {{"m=1000", "n=900", "k=500"}, {"hilbert", Mode::Grid, 5, 3, RecordKind::Box}},  // unaligned rows
        {{"m=1024", "n=2048", "k=512", "mode=static"}, {"group_m:4", Mode::Static, 3, 1, RecordKind::Box}},
        {{"m=1024", "n=2048", "k=512", "mode=dynamic"}, {"morton", Mode::Dynamic, 12, 2, RecordKind::Box}},
        {{"m=1024", "n=1024", "k=512", "cluster_m=2"}, {"row_major", Mode::Grid, 8, 4, RecordKind::Box}},
        {{"m=1000", "n=1024", "k=512"}, {"diagonal", Mode::Grid, 4, 5, RecordKind::Line}},
        {{"m=1024", "n=1024", "k=512", "cluster_n=2"}, {"row_major", Mode::Grid, 2, 6, RecordKind::Line}},
    };
    for (const Case& c : cases) {
        INFO(c.spec.order << ", " << c.spec.lanes << " lanes, seed " << c.spec.seed);
        const Kernel kernel = load_kernel("gemm", c.params, &machine);
        const Recorded recorded = record_run(machine, kernel, c.spec, threads);
        for (Executor* executor : {static_cast<Executor*>(&serial), static_cast<Executor*>(&threads)}) {
            const ReplayResult replayed = replay_of(recorded.trace, machine, *executor);
            CHECK(replayed.events == recorded.run.events);
            CHECK(replayed.events[Event::CoalescableSectors] > 0);
            CHECK(replayed.scale == recorded.run.scale);
        }
        if (c.spec.kind == RecordKind::Box && c.spec.lanes < 10) {
            const ReplayResult replayed = replay_of(as_text(recorded.trace, machine), machine, serial);
            CHECK(replayed.events == recorded.run.events);
            CHECK(replayed.scale == recorded.run.scale);
        }
    }
}

TEST_CASE("A replay reads what reductions add to") {
    for (const char* name : {"h200", "mi300x"}) {
        INFO(name);
        const Machine machine = load_machine(name);
        const Kernel reducing =
            load_kernel("gemm_split_k", {"m=512", "n=512", "k=2048", "split=4", "sum=reduce"}, &machine);
        Kernel storing = reducing;
        for_each_box(storing, [](BoxWalk& box) { box.reduce = false; });
        RunSpec spec;
        spec.lanes = 4;
        const Events reduced = check_every_form(machine, reducing, spec);
        const Events stored = check_every_form(machine, storing, spec);
        CHECK(reduced[Event::FillSectors] > stored[Event::FillSectors]);  // C, which nobody read before
    }
}

TEST_CASE("A replay keeps what hints keep") {
    Machine machine = load_machine("h200");
    machine.l2.slice_bytes /= 64;  // A and B do not fit
    const Kernel plain = load_kernel("gemm", {"m=2048", "n=2048", "k=512"}, &machine);
    RunSpec spec;
    spec.lanes = 4;
    std::vector<Events> seen{check_every_form(machine, plain, spec)};
    for (const CacheHint hint : {CacheHint::EvictFirst, CacheHint::EvictLast}) {
        Kernel hinted = plain;
        for_each_box(hinted, [&](BoxWalk& box) {
            if (plain.tensors[static_cast<std::size_t>(box.tensor)].name == "B") box.hint = hint;
        });
        const Events events = check_every_form(machine, hinted, spec);
        CHECK(std::ranges::count(seen, events) == 0);  // each hint has an effect of its own
        seen.push_back(events);
    }
}

TEST_CASE("A replay lets the CPCs take turns at full slices") {
    Machine machine = load_machine("h200");
    machine.l2.queue_lines = 2;
    const Kernel kernel = load_kernel("gemm", {"m=2048", "n=2048", "k=512"}, &machine);
    RunSpec spec;
    spec.lanes = 4;
    const Events in_turn = check_every_form(machine, kernel, spec);
    for (Sm& sm : machine.sms) sm.cpc = 0;
    CHECK(check_every_form(machine, kernel, spec) != in_turn);  // so CPCs did wait for each other
}

TEST_CASE("Looking on changes nothing") {
    const Machine machine = load_machine("h200");
    const Kernel kernel = load_kernel("gemm", {"m=1024", "n=1024", "k=512"}, &machine);
    SerialExecutor serial;
    RunSpec spec;
    spec.lanes = 4;
    const Recorded recorded = record_run(machine, kernel, spec, serial);
    std::vector<std::int32_t> launches;
    for (std::int32_t tile = 0; tile < kernel.tiles(); ++tile) launches.push_back(tile);
    SimulationOptions options;
    options.lanes = 4;
    const SimulationResult run =
        Simulation(machine, kernel, launches, ctas_per_sm(kernel.resources, machine), options).run(serial);
    CHECK(run.events == recorded.run.events);
    CHECK(run.time == recorded.run.time);
}

TEST_CASE("Another seed or another GPU replays to counters of its own") {
    const Machine h200 = load_machine("h200");
    const Machine gh200 = load_machine("gh200");
    const Kernel kernel = load_kernel("gemm", {"m=1024", "n=1024", "k=512"}, &h200);
    SerialExecutor serial;
    RunSpec spec;
    spec.lanes = 4;
    const Recorded recorded = record_run(h200, kernel, spec, serial);
    const ReplayResult elsewhere = replay_of(recorded.trace, gh200, serial);
    // All boxes are asked for, wherever it runs.
    CHECK(static_cast<double>(elsewhere.events[Event::CoalescableSectors] +
                              elsewhere.events[Event::TexWriteSectors]) *
              elsewhere.scale ==
          Approx(static_cast<double>(recorded.run.events[Event::CoalescableSectors] +
                                     recorded.run.events[Event::TexWriteSectors]) *
                 recorded.run.scale));
    CHECK_THROWS_WITH(replay_of(recorded.trace, load_machine("tiny"), serial),
                      ContainsSubstring("tiny has SMs 0 to 3") && ContainsSubstring("t.l2t: frame 2"));
    spec.kind = RecordKind::Line;
    const Recorded lines = record_run(h200, kernel, spec, serial);
    CHECK_THROWS_WITH(replay_of(lines.trace, load_machine("v100"), serial),
                      ContainsSubstring("4 of 47 lanes of h200"));
}

// Counted by hand: the comments in the file say what happens to each request.
TEST_CASE("The sample by hand has the events one can count by hand") {
    const auto reader = open_trace(sample_path("hand.txt"));
    SerialExecutor serial;
    const ReplayResult result = replay(*reader, load_machine("tiny"), {}, serial);
    const Events& events = result.events;
    CHECK(result.requests == 11);
    CHECK(events[Event::CoalescableRequests] == 9);
    CHECK(events[Event::CoalescableSectors] == 4 + 4 + 4 + 1 + 1 + 2 + 2 + 4 + 2);
    CHECK(events[Event::MergedSectors] == 4);
    CHECK(events[Event::MulticastSectors] == 2 + 4 + 2);
    CHECK(events[Event::TexReadHits] == 4 + 1 + 2 + 2);
    CHECK(events[Event::TexReadMisses] == 4 + 1 + 4 + 2);
    CHECK(events[Event::TexReadPromoted] == 1 + 2);    // 64 B of line 1, 128 B of line 4
    CHECK(events[Event::FabricReadSectors] == 2 + 4);  // lines 1 and 3
    CHECK(events[Event::FabricReadHits] == 0);
    CHECK(events[Event::TexWriteSectors] == 4 + 1);
    CHECK(events[Event::FabricWriteSectors] == 1);
    CHECK(events[Event::FillSectors] == 4 + 2 + 4 + 4);
    CHECK(result.scale == 1);
}

// hand.l2t was made by `l2lens trace convert hand.txt --to lines`, gemm.l2t by `l2lens trace record gemm
// m=256 n=256 k=128 bm=64 bn=64 --gpu tiny`, both by the first program that wrote this version: they must
// stay readable.
TEST_CASE("The binary samples stay readable") {
    const auto text = open_trace(sample_path("hand.txt"));
    const auto binary = open_trace(sample_path("hand.l2t"));
    CHECK(lines_of(*binary) == lines_of(*text));
    CHECK(binary->warning().empty());

    const auto gemm = open_trace(sample_path("gemm.l2t"));
    SerialExecutor serial;
    const ReplayResult result = replay(*gemm, load_machine("tiny"), {}, serial);
    // 16 tiles: A and B 64 x 128 each, C 64 x 64, bf16, 32 B a sector.
    CHECK(result.events[Event::CoalescableSectors] == 16 * 2 * 64 * 128 * 2 / 32);
    CHECK(result.events[Event::TexWriteSectors] == 16 * 64 * 64 * 2 / 32);
    CHECK(gemm->warning().empty());
}

TEST_CASE("A beginning replays") {
    const Machine machine = load_machine("tiny");
    std::ostringstream out;
    TraceHeader header;
    header.gpu = "tiny";
    TraceWriter writer(out, header, {});
    for (int i = 0; i < 200'000; ++i) {
        writer.add(LineRecord{i * Picoseconds{1000}, i * Picoseconds{1000},
                              static_cast<std::uint64_t>(i % 64) * 128, static_cast<std::uint16_t>(i % 4),
                              128, 1, Operation::Read, Path::Tma});
    }
    writer.finish(800'000);
    const auto reader = reader_of(out.str().substr(0, out.str().size() / 2));
    SerialExecutor serial;
    const ReplayResult result = replay(*reader, machine, {}, serial);
    CHECK_THAT(reader->warning(), ContainsSubstring("cut"));
    CHECK(result.records > 0);
    CHECK(result.records < 200'000);
    CHECK(result.events[Event::CoalescableRequests] == result.records);
    CHECK(result.scale == 1);
}

TEST_CASE("Moments far apart take no time where answers wait for the ways into the GPCs") {
    const Machine machine = load_machine("h200");
    REQUIRE(machine.bandwidth.gpc_way_bytes_per_ns > 0);
    // Two bursts that keep the ways busy; whether 10 us or 9 s lie between is the same to the second.
    const auto bursts = [](const std::string& nanoseconds) {
        std::string text;
        for (int i = 0; i < 200; ++i) text += "0 0 R " + std::to_string(128 * i) + " 128\n";
        for (int i = 0; i < 200; ++i)
            text += nanoseconds + " 0 R " + std::to_string(128 * (i + 100)) + " 128\n";
        return text;
    };
    SerialExecutor serial;
    const ReplayResult near = replay_of(bursts("10000"), machine, serial);
    const ReplayResult far = replay_of(bursts("9000010000"), machine, serial);
    CHECK(far.events == near.events);
    CHECK(near.time > 10'000 * kPsPerNs);
    // As exactly as the windows that the two moments fall into, and the refreshes and pauses of DRAM.
    const Picoseconds window = 100 * kPsPerNs;
    CHECK(std::abs(far.time - near.time - 9'000'000'000 * kPsPerNs) <
          window + from_ns(machine.latency.dram_refresh_ns + machine.latency.dram_pause_ns));
}

TEST_CASE("A replay asks at each step of the lanes whether it is to stop") {
    const auto reader = reader_of("0 0 R 0 32\n1000 0 R 0 32\n");
    ReplayOptions options;
    options.stop_requested = [] { return true; };
    SerialExecutor serial;
    CHECK_THROWS_AS(replay(*reader, load_machine("h200"), options, serial), Interrupted);
}
