// SPDX-License-Identifier: Apache-2.0
// The L1 in front of plain loads, alone and inside a launch.
#include <vector>

#include "kernel/residency.hpp"
#include "load/machine_file.hpp"
#include "memory/l1_cache.hpp"
#include "schedule/simulation.hpp"
#include "support/catch.hpp"
#include "support/kernels.hpp"

using namespace l2lens;

namespace {

constexpr bool kAllocates = true;
constexpr std::int64_t kKiB = 1024;

// One CTA of the teaching GPU that loads `lines` lines in turn, all of them `passes` times.
SimulationResult passes_over(const Machine& machine, std::int64_t lines, int passes, Path path,
                             CacheHint hint = CacheHint::None) {
    Kernel kernel = test::one_cta(lines, 0, 1);
    Program& program = kernel.programs.front();
    program.phases.front().loads.front().path = path;
    program.phases.front().loads.front().hint = hint;
    for (int pass = 1; pass < passes; ++pass) program.phases.push_back(program.phases.front());
    SimulationOptions options;
    options.lanes = machine.l2.slices_per_partition;
    SerialExecutor serial;
    const std::vector<std::int32_t> launches{0};
    return Simulation(machine, kernel, launches, 1, options).run(serial);
}

Machine tiny_with_l1(std::int64_t bytes) {
    Machine machine = load_machine("tiny");
    machine.sm.l1_bytes = bytes;
    machine.sm.l1_holds_shared = false;
    return machine;
}

}  // namespace

TEST_CASE("A sector is filled when it is asked for, not the line around it") {
    L1Cache l1(64);
    CHECK(l1.read(5, 0x3, 100, kAllocates).sectors == 0);
    CHECK(l1.read(5, 0xF, 200, kAllocates).sectors == 0x3);
    CHECK(l1.read(5, 0xF, 300, kAllocates).sectors == 0xF);
    CHECK(l1.read(5, 0x1, 300, kAllocates).ready == 200);  // its data is on its way until then
}

TEST_CASE("What fits stays, and one line more than the cache cycles through it without a hit") {
    for (const int lines : {16, 64}) {  // a single set
        L1Cache l1(lines);
        const auto sweep = [&](int count) {
            int hits = 0;
            for (LineNumber line = 0; line < static_cast<LineNumber>(count); ++line)
                hits += l1.read(line, kWholeLine, 0, kAllocates).sectors == kWholeLine ? 1 : 0;
            return hits;
        };
        CHECK(sweep(lines) == 0);
        CHECK(sweep(lines) == lines);
        L1Cache small(lines);
        for (int pass = 0; pass < 3; ++pass) {
            int hits = 0;
            for (LineNumber line = 0; line <= static_cast<LineNumber>(lines); ++line)
                hits += small.read(line, kWholeLine, 0, kAllocates).sectors != 0 ? 1 : 0;
            CHECK(hits == 0);
        }
    }
}

TEST_CASE("A load that takes no place finds what is there and leaves nothing") {
    L1Cache l1(16);
    CHECK(l1.read(1, kWholeLine, 0, !kAllocates).sectors == 0);
    CHECK(l1.read(1, kWholeLine, 0, kAllocates).sectors == 0);
    CHECK(l1.read(1, kWholeLine, 0, !kAllocates).sectors == kWholeLine);
}

TEST_CASE("Shared memory is taken out of the L1 in the sizes the driver configures") {
    const Machine h200 = load_machine("h200");
    const auto left = [&](std::int64_t shared, int ctas) {
        return l1_bytes({shared, 32, 128}, ctas, h200) / kKiB;
    };
    CHECK(left(0, 8) == 256);             // nothing
    CHECK(left(7 * kKiB, 1) == 256 - 8);  // with the reserved KiB: 8
    CHECK(left(8 * kKiB, 1) == 256 - 16);
    CHECK(left(40 * kKiB, 2) == 256 - 100);
    CHECK(left(227 * kKiB, 1) == 256 - 228);
    const Machine mi300x = load_machine("mi300x");  // its LDS is a memory of its own
    CHECK(l1_bytes({64 * kKiB, 32, 256}, 1, mi300x) == 32 * kKiB);
    CHECK(l1_bytes({0, 32, 256}, 1, load_machine("tiny")) == 0);
}

TEST_CASE("A second pass over what fits the L1 asks the L2 for nothing") {
    const Machine machine = tiny_with_l1(4 * kKiB);  // 32 lines
    const SimulationResult once = passes_over(machine, 32, 1, Path::Load);
    const SimulationResult thrice = passes_over(machine, 32, 3, Path::Load);
    CHECK(thrice.events[Event::L1Sectors] == 3 * 128);
    CHECK(thrice.events[Event::L1Hits] == 2 * 128);
    CHECK(thrice.events[Event::TexReadSectors] == once.events[Event::TexReadSectors]);
    CHECK(thrice.events[Event::FillSectors] == once.events[Event::FillSectors]);
    CHECK(thrice.scale == 1);
    CHECK(thrice.time > once.time);

    // One line more than fits: least recently used out first finds nothing again.
    const SimulationResult beyond = passes_over(machine, 33, 3, Path::Load);
    CHECK(beyond.events[Event::L1Hits] == 0);
    CHECK(beyond.events[Event::TexReadSectors] == 3 * 33 * 4);
}

TEST_CASE("Bulk copies, asynchronous copies and loads that take no place bypass the L1") {
    const Machine machine = tiny_with_l1(4 * kKiB);
    for (const Path path : {Path::Tma, Path::CpAsync}) {
        const SimulationResult result = passes_over(machine, 8, 3, path);
        CHECK(result.events[Event::L1Sectors] == 0);
        CHECK(result.events[Event::TexReadSectors] == 3 * 8 * 4);
        // And nothing changes because there is an L1.
        const SimulationResult without = passes_over(load_machine("tiny"), 8, 3, path);
        CHECK(result.time == without.time);
        CHECK(result.events == without.events);
    }
    const SimulationResult hinted = passes_over(machine, 8, 3, Path::Load, CacheHint::NoAllocate);
    CHECK(hinted.events[Event::L1Hits] == 0);
    CHECK(hinted.events[Event::TexReadSectors] == 3 * 8 * 4);
}
