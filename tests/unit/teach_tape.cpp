// SPDX-License-Identifier: Apache-2.0
// Is a tape what the model did? Its accesses are added up and held against the counters of the same run.
#include <bit>

#include "load/machine_file.hpp"
#include "memory/address_map.hpp"
#include "support/catch.hpp"
#include "support/kernels.hpp"
#include "teach/contents.hpp"
#include "teach/tape.hpp"

using namespace l2lens;

namespace {

struct Launch {
    Machine machine;
    Kernel kernel;

    Tape tape(const TapeOptions& options = {}) const {
        return record_tape(machine, kernel, test::in_order(kernel), 1, options);
    }
};

Launch launch(const std::string& gpu, const std::string& kernel, const std::vector<std::string>& arguments) {
    Machine machine = load_machine(gpu);
    Kernel loaded = load_kernel(kernel, arguments, &machine);
    return {std::move(machine), std::move(loaded)};
}

std::uint64_t sectors(SectorMask mask) {
    return static_cast<std::uint64_t>(std::popcount(static_cast<unsigned>(mask)));
}

using Kind = LaneStep::Kind;

// Each counter as the accesses add up to it.
Events added_up(const Tape& tape, const Machine& machine) {
    const AddressMap map(machine, tape.seed);
    Events events;
    for (const Access& access : tape.accesses) {
        const LaneStep& step = access.step;
        const std::uint64_t asked = sectors(step.asked);
        const std::uint64_t missing = sectors(static_cast<SectorMask>(step.asked & ~step.valid));
        const bool at_home = machine.l2.private_partitions || map.home(step.line) == step.partition;
        if (step.kind == Kind::Merged) events[Event::MergedSectors] += asked;
        if (step.kind == Kind::Merged || step.kind == Kind::Read) {
            events[Event::CoalescableRequests] += 1;
            events[Event::CoalescableSectors] += asked;
        }
        if (step.kind == Kind::Read || step.kind == Kind::Write) events[Event::TexRequests] += 1;
        if (step.kind == Kind::Read) {
            events[Event::TexReadSectors] += asked;
            events[Event::TexReadMisses] += missing;
            events[Event::TexReadHits] += asked - missing;
            events[Event::TexReadPromoted] += sectors(step.fetched) - missing;
        }
        if (step.kind == Kind::HomeRead || step.kind == Kind::HomeWrite) events[Event::FabricRequests] += 1;
        if (step.kind == Kind::HomeRead) {
            events[Event::FabricReadSectors] += asked;
            events[Event::FabricReadMisses] += missing;
            events[Event::FabricReadHits] += asked - missing;
        }
        if (step.kind == Kind::Write) {
            events[Event::TexWriteSectors] += asked;
            events[Event::TexWriteMisses] += sectors(step.fetched);
        }
        if (step.kind == Kind::HomeWrite) {
            events[Event::FabricWriteSectors] += asked;
            events[Event::FabricReadMisses] += sectors(step.fetched);
        }
        if (at_home) {
            events[Event::FillSectors] += sectors(static_cast<SectorMask>(step.fetched & ~step.last_level));
            if (machine.last_level.bytes > 0) events[Event::LastLevelSectors] += sectors(step.fetched);
            events[Event::LastLevelHits] += sectors(step.last_level);
        }
        events[Event::FillSectors] += sectors(step.cleaned.incomplete) + sectors(step.completed.incomplete);
        events[Event::WritebackSectors] += sectors(step.cleaned.dirty) + sectors(step.completed.dirty);
    }
    events[Event::DeliveredSectors] = events[Event::CoalescableSectors];  // without multicast
    return events;
}

}  // namespace

TEST_CASE("A tape adds up to the counters of its run") {
    const std::vector<Launch> launches = {
        launch("tiny", "gemm", {"m=64", "n=64", "k=256", "bm=16", "bn=16", "bk=64"}),
        launch("tiny", "copy", {"m=64", "n=256", "bm=8", "bn=64"}),
        launch("tiny", "strided", {"pieces=40", "bytes=48", "stride=80", "passes=3", "ctas=4"}),
        launch("tiny", "transpose", {"m=64", "n=64"}),
        launch("mi300x", "gemm", {"m=512", "n=512", "k=128", "bm=64", "bn=64"}),
        launch("v100", "gemm", {"m=256", "n=256", "k=128", "bm=64", "bn=64"}),
        launch("h200", "gemm", {"m=512", "n=512", "k=128"}),
    };
    for (const Launch& launched : launches) {
        CAPTURE(launched.machine.name, launched.kernel.title);
        const Tape tape = launched.tape({Mode::Grid, 7, 2'000'000});
        REQUIRE(tape.complete);
        REQUIRE(tape.accesses.size() > 100);
        const Events told = added_up(tape, launched.machine);
        for (int e = 0; e < kEventCount; ++e) {
            CAPTURE(e);
            CHECK(told[static_cast<Event>(e)] == tape.events[static_cast<Event>(e)]);
        }
    }
}

TEST_CASE("A tape is the same each time, and its beginning is the beginning of a longer one") {
    const Launch launched = launch("h100-sxm", "gemm", {"m=512", "n=256", "k=128"});
    const Tape whole = launched.tape({Mode::Grid, 3, 1'000'000});
    const Tape again = launched.tape({Mode::Grid, 3, 1'000'000});
    REQUIRE(whole.accesses.size() == again.accesses.size());
    const auto same = [](const Access& a, const Access& b) {
        return a.step.time == b.step.time && a.step.line == b.step.line && a.step.kind == b.step.kind &&
               a.step.way == b.step.way && a.step.valid == b.step.valid && a.sm == b.sm &&
               a.answered == b.answered;
    };
    for (std::size_t i = 0; i < whole.accesses.size(); ++i)
        REQUIRE(same(whole.accesses[i], again.accesses[i]));

    const Tape begun = launch("tiny", "copy", {"m=64", "n=256", "bm=8", "bn=64"}).tape({Mode::Grid, 0, 50});
    CHECK(!begun.complete);
    CHECK(begun.accesses.size() == 50);
}

TEST_CASE("Every read of a finished launch is answered, after it was asked") {
    const Launch launched = launch("tiny", "gemm", {"m=64", "n=64", "k=256", "bm=16", "bn=16", "bk=64"});
    for (const Access& access : launched.tape().accesses) {
        const bool read = access.step.kind == Kind::Read || access.step.kind == Kind::Merged;
        CHECK((access.answered > access.step.time) == read);
        CHECK((access.sm >= 0) == read);
        if (access.step.kind == Kind::Merged) CHECK(access.answered_with > 1);
    }
}

TEST_CASE("The ledger holds what lookups find, forwards and backwards") {
    // The lanes say whether a lookup found its line and what was valid: the ledger must have known both.
    for (const char* gpu : {"tiny", "v100"}) {
        const Launch launched = launch(gpu, "gemm", {"m=64", "n=64", "k=256", "bm=16", "bn=16", "bk=64"});
        const Tape tape = launched.tape();
        const AddressMap map(launched.machine);
        Contents contents(launched.machine);
        const auto agrees = [&](std::size_t n) {
            const LaneStep& step = tape.accesses[n].step;
            if (!is_lookup(step)) return true;
            HeldLine held;
            for (const HeldLine& way : contents.set(step.partition, step.lane, map.set(step.line))) {
                if (way.used && way.line == step.line) held = way;
            }
            return held.used == step.tag_found && held.valid == step.valid;
        };
        for (std::size_t n = 0; n < tape.accesses.size(); ++n) {
            contents.play_to(tape.accesses, n);
            REQUIRE(agrees(n));
        }
        for (std::size_t n = std::min<std::size_t>(tape.accesses.size(), 300); n-- > 0;) {
            contents.play_to(tape.accesses, n);
            REQUIRE(agrees(n));
        }
    }
}

TEST_CASE("What makes room is the clean line of the set that was used least recently") {
    const Launch launched = launch("tiny", "strided", {"pieces=40", "passes=3", "ctas=4"});
    const Tape tape = launched.tape();
    const AddressMap map(launched.machine);
    Contents contents(launched.machine);
    int displacements = 0;
    for (std::size_t n = 0; n < tape.accesses.size(); ++n) {
        contents.play_to(tape.accesses, n);
        const LaneStep& step = tape.accesses[n].step;
        const HeldLine displaced = contents.displaced_by(step);
        if (!displaced.used) continue;
        ++displacements;
        for (const HeldLine& way : contents.set(step.partition, step.lane, map.set(step.line)))
            CHECK((way.dirty || way.last >= displaced.last));
    }
    CHECK(displacements > 100);
}
