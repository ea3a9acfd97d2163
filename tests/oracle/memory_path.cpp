// SPDX-License-Identifier: Apache-2.0
// A lane against the slow oracle of naive_memory.hpp under random traffic: the same counts, the same answers
// at the same times, to the picosecond.
#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "load/machine_file.hpp"
#include "memory/lane.hpp"
#include "oracle/naive_memory.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"

using namespace l2lens;

namespace {

// So few sets and ways that a handful of lines overflows them.
Machine shrunken(const std::string& name, int slices, int sets, int ways) {
    Machine machine = load_machine(name);
    machine.l2.slices_per_partition = slices;
    machine.l2.ways = ways;
    machine.l2.dirty_ways = (ways + 1) / 2;
    machine.l2.incomplete_ways = (ways + 2) / 3;
    machine.l2.slice_bytes = std::int64_t{kLineBytes} * sets * ways;
    return machine;
}

struct Traffic {
    int requests;
    double over_ns;        // they arrive within this time
    double lines_per_way;  // size of the pool of lines, in ways of the lane
    double writes;         // shares
    double partial_masks;
    double repeats;
    double tensor;
};

Traffic random_traffic(RandomStream& random) {
    const auto one_of = [&](std::initializer_list<double> values) {
        return values.begin()[random.below(static_cast<std::uint32_t>(values.size()))];
    };
    Traffic traffic{};
    traffic.requests = 20 + static_cast<int>(random.below(600));
    traffic.over_ns = one_of({50, 500, 5000, 40000});
    traffic.lines_per_way = one_of({0.1, 0.5, 1.2, 4});
    traffic.writes = one_of({0, 0.1, 0.5, 1});
    traffic.partial_masks = one_of({0, 0.3, 1});
    traffic.repeats = one_of({0, 0.3, 0.8});
    traffic.tensor = one_of({0, 0.5, 1});
    return traffic;
}

std::vector<LineNumber> pool_of(const AddressMap& map, int lane, std::size_t size, RandomStream& random) {
    std::vector<LineNumber> lines;
    while (lines.size() < size) {
        const LineNumber line = random.below(1u << 18);
        if (map.lane(line) == lane) lines.push_back(line);
    }
    return lines;
}

// A request when it is handed in, not after its arrival.
struct Sent {
    Picoseconds handed_in;
    Request request;
};

std::vector<Sent> requests_of(const Machine& machine, const AddressMap& map, int lane, const Traffic& traffic,
                              RandomStream& random) {
    const double ways = machine.partitions * static_cast<double>(map.sets()) * machine.l2.ways;
    const auto pool = pool_of(map, lane, static_cast<std::size_t>(1 + ways * traffic.lines_per_way), random);
    const auto horizon = static_cast<std::uint32_t>(from_ns(traffic.over_ns));
    std::vector<Sent> sent;
    for (int i = 0; i < traffic.requests; ++i) {
        Request request;
        const bool repeat =
            i > 0 && random.uniform() < traffic.repeats;  // the last line, soon after, by anyone
        request.line =
            repeat ? sent.back().request.line : pool[random.below(static_cast<std::uint32_t>(pool.size()))];
        request.time = repeat ? sent.back().request.time + random.below(60000) : random.below(horizon);
        request.landing = static_cast<std::uint16_t>(i);
        request.gpc = static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(machine.gpcs)));
        const auto of_this_gpc = std::ranges::count(machine.sms, static_cast<int>(request.gpc), &Sm::gpc);
        request.sm = static_cast<std::uint8_t>(random.below(static_cast<std::uint32_t>(of_this_gpc)));
        const Operation writes = random.below(8) == 0 ? Operation::Add : Operation::Write;
        request.operation = random.uniform() < traffic.writes ? writes : Operation::Read;
        request.fetch = random.uniform() < traffic.tensor ? Fetch::Tensor : Fetch::Plain;
        request.receivers = random.below(4) == 0 ? 2 : 1;
        const bool part = random.uniform() < traffic.partial_masks;
        request.sectors = part ? static_cast<SectorMask>(1 + random.below(15)) : kWholeLine;
        const bool shifted_row = request.operation == Operation::Read && random.below(8) == 0;
        if ((request.operation == Operation::Write && part) || shifted_row)
            request.partial = static_cast<SectorMask>(random.below(16) & request.sectors);
        const Picoseconds early = random.below(2) == 0 ? 0 : random.below(8'000'000);
        sent.push_back({std::max<Picoseconds>(request.time - early, 0), request});
    }
    return sent;
}

// Runs both in the same windows, handing each request in at the beginning of a window.
template <class TheLane>
void run(TheLane& lane, const std::vector<Sent>& sent, Picoseconds window) {
    std::vector<bool> done(sent.size(), false);
    std::size_t left = sent.size();
    for (Picoseconds now = 0; left > 0 || !lane.idle(); now += window) {
        for (std::size_t i = 0; i < sent.size(); ++i) {
            if (done[i] || sent[i].handed_in >= now + window) continue;
            lane.submit(sent[i].request);
            done[i] = true;
            --left;
        }
        lane.run_until(now + window);
    }
}

// Every field of an answer, for messages too.
std::vector<std::string> texts(const std::vector<Answer>& answers) {
    std::vector<std::string> lines;
    for (const Answer& answer : answers) {
        std::string text = std::to_string(answer.time) + " ps, settled " + std::to_string(answer.late) +
                           " ps later, " + std::to_string(answer.sectors) + " sectors to";
        for (std::size_t i = 0; i < answer.requesters; ++i) text += " " + std::to_string(answer.landing[i]);
        lines.push_back(text);
    }
    return lines;
}

constexpr std::uint64_t kMemorySeed = 5;

void check_against_oracle(const Machine& machine, const MemoryModel& model, double lines_per_line,
                          std::uint64_t seed) {
    RandomStream random(seed, 1);
    const Traffic traffic = random_traffic(random);
    const int number = static_cast<int>(random.below(static_cast<std::uint32_t>(model.map.lanes())));
    const auto sent = requests_of(machine, model.map, number, traffic, random);
    const Picoseconds window = random.below(2) == 0 ? exchange_window(machine) : Picoseconds{512} << 13;
    INFO(machine.name << ", seed " << seed << ": " << sent.size() << " requests, lane " << number);

    Lane lane(model, seed, number);
    test::NaiveLane naive(machine, model.map, lines_per_line, kMemorySeed, seed, number);
    run(lane, sent, window);
    run(naive, sent, window);

    for (int event = 0; event < kEventCount; ++event) {
        INFO("event " << event);
        CHECK(lane.events()[static_cast<Event>(event)] == naive.events()[static_cast<Event>(event)]);
    }
    for (int partition = 0; partition < machine.partitions; ++partition)
        CHECK(lane.slice_sectors(partition) == naive.slice_sectors(partition));
    std::size_t answered = 0;
    for (int gpc = 0; gpc < machine.gpcs; ++gpc) {
        INFO("GPC " << gpc);
        CHECK(texts(lane.answers(gpc)) == texts(naive.answers(gpc)));
        for (const Answer& answer : lane.answers(gpc)) answered += answer.requesters;
    }
    CHECK(answered == lane.events()[Event::CoalescableRequests]);
}

void check_many(const Machine& machine, double lines_per_line, std::uint64_t first_seed) {
    const MemoryModel model(machine, lines_per_line, kMemorySeed);
    const int wanted = test::cases(600);
    for (int i = 0; i < wanted; ++i)
        check_against_oracle(machine, model, lines_per_line, first_seed + static_cast<std::uint64_t>(i));
}

}  // namespace

TEST_CASE("A lane of the teaching GPU does what the oracle does") {
    check_many(load_machine("tiny"), 1, 1000);
}

TEST_CASE("A lane of an H200 with small sets does what the oracle does") {
    check_many(shrunken("h200", 3, 4, 3), 1, 2000);
}

TEST_CASE("A sampled lane, whose DRAM latency stands for more lines, does what the oracle does") {
    check_many(shrunken("h200", 8, 2, 2), 8, 3000);
}

TEST_CASE("A lane of a GPU with one partition does what the oracle does") {
    check_many(shrunken("v100", 4, 2, 4), 1, 4000);
}

TEST_CASE("A lane without a coalescer that fetches single sectors does what the oracle does") {
    Machine machine = shrunken("h200", 2, 4, 2);
    machine.coalescer.present = false;
    machine.l2.fetch_bytes = 32;
    machine.l2.tensor_fetch_bytes = 64;
    check_many(machine, 1, 5000);
}

TEST_CASE("A lane whose coalescer takes eight requesters does what the oracle does") {
    Machine machine = shrunken("h200", 2, 2, 2);
    machine.coalescer.max_requesters = kMaxRequesters;
    machine.l2.fetch_bytes = 128;
    check_many(machine, 1, 6000);
}

TEST_CASE("A lane whose slices are soon full and then let the CPCs take turns does what the oracle does") {
    for (const int lines : {1, 6, 40}) {
        Machine machine = shrunken("h200", 2, 4, 2);
        machine.l2.queue_lines = lines;
        machine.l2.input_queue_requests = 0;
        check_many(machine, 1, 7000 + static_cast<std::uint64_t>(lines) * 1000);
    }
}

TEST_CASE("A lane whose ways into the GPCs are narrow does what the oracle does") {
    for (const int lines : {0, 1, 5, 24}) {
        Machine machine = shrunken("h200", 2, 4, 2);
        machine.bandwidth.gpc_way_bytes_per_ns = lines == 24 ? 8 : 3;
        machine.l2.gpc_queue_lines = lines;
        check_many(machine, 1, 70000 + static_cast<std::uint64_t>(lines) * 1000);
    }
}

TEST_CASE("A lane whose slices are short of far lines does what the oracle does") {
    for (const int lines : {1, 3, 12}) {
        Machine machine = shrunken("h200", 2, 4, 2);
        machine.l2.far_lines = lines;
        machine.l2.far_in_order = lines != 12;
        machine.l2.replies_apart = lines != 3;
        machine.l2.lookup_queue_requests = 2 * lines;
        machine.l2.input_queue_requests = 4 * lines;
        check_many(machine, 1, 60000 + static_cast<std::uint64_t>(lines) * 1000);
    }
}

TEST_CASE("A lane whose requests wait in front of its coalescer for the tags does what the oracle does") {
    for (const int requests : {1, 3, 16}) {
        Machine machine = shrunken("h200", 2, 4, 2);
        machine.l2.tag_queue_requests = requests;
        machine.l2.input_queue_requests = 2 * requests;
        machine.bandwidth.tag_requests_per_l2_cycle = 0.2;
        check_many(machine, 1, 50000 + static_cast<std::uint64_t>(requests) * 1000);
    }
}
