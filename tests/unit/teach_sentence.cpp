// SPDX-License-Identifier: Apache-2.0
// Does each sentence say what happened? On gpus/tiny.toml, whose figures are round: misses of plain loads
// fill 64 B, even lines are at home in partition 0, a set has four ways.
#include "load/machine_file.hpp"
#include "support/catch.hpp"
#include "support/kernels.hpp"
#include "teach/lesson.hpp"

using namespace l2lens;
using Catch::Matchers::Contains;

namespace {

struct Told {
    Machine machine;
    Kernel kernel;
    Lesson lesson;

    Told(const std::string& name, const std::vector<std::string>& arguments,
         const Machine& on = load_machine("tiny"))
        : machine(on),
          kernel(load_kernel(name, arguments, &machine)),
          lesson(machine, kernel, "row_major",
                 record_tape(machine, kernel, test::in_order(kernel), 1, TapeOptions{})) {}

    // The first step whose sentence has `words`; 0 for none.
    std::size_t step_with(const std::string& words) {
        for (std::size_t step = 1; step <= lesson.steps(); ++step) {
            if (lesson.sentence(step).find(words) != std::string::npos) return step;
        }
        return 0;
    }
};

}  // namespace

TEST_CASE("Sectors are named as people do") {
    CHECK(sectors_text(0b0100) == "sector 2");
    CHECK(sectors_text(0b1001) == "sectors 0 and 3");
    CHECK(sectors_text(0b0011) == "sectors 0 and 1");
    CHECK(sectors_text(0b1111) == "sectors 0 to 3");
    CHECK(sectors_text(0b0111) == "sectors 0 to 2");
    CHECK(sectors_text(0b1011) == "sectors 0, 1 and 3");
}

TEST_CASE("Bytes are named by the tensor's elements") {
    Tensor a;
    a.name = "A";
    a.rank = 2;
    a.shape = {4, 96};
    a.stride_bytes = {256, 2};  // padded rows of bf16
    a.element_bytes = 2;
    a.base = 4096;
    CHECK(elements_text({a}, 4096, 128) == "A[0,0..63]");
    CHECK(elements_text({a}, 4096 + 2 * 256 + 128, 128) == "A[2,64..95]");  // the row ends at 96
    CHECK(elements_text({a}, 4096 + 256, 2) == "A[1,0]");
    CHECK(elements_text({a}, 4096 + 192, 64).empty());  // the padding
    CHECK(elements_text({a}, 0, 32).empty());
}

TEST_CASE("One line read sector by sector: a line miss, a hit on what was promoted, a sector miss, a hit") {
    Told told("strided", {"pieces=4", "bytes=32", "stride=32"});
    REQUIRE(told.lesson.steps() == 4);
    CHECK_THAT(told.lesson.sentence(1),
               Contains("SM 0 reads line 0x0 (A[0,0..31]): it is not in set") && Contains("line miss") &&
                   Contains("fetch 64 B from DRAM (sector 1 is promoted: nobody asked for it)"));
    CHECK_THAT(told.lesson.sentence(2), Contains("with sector 1 valid: hit"));
    CHECK_THAT(told.lesson.sentence(3),
               Contains("but sector 2 is not valid: sector miss, fetch 64 B from DRAM"));
    CHECK_THAT(told.lesson.sentence(4), Contains("with sector 3 valid: hit"));
    // A hit takes 10 L2 cycles and a sector's turn at the port (4 a cycle), at 1 GHz.
    CHECK_THAT(told.lesson.sentence(2), Contains("answered after 10.25 ns"));
    // Backwards is the same story.
    CHECK_THAT(told.lesson.sentence(1), Contains("line miss"));
}

TEST_CASE("A far line is asked for at home, and its answer leaves a copy") {
    Told told("strided", {"pieces=1", "bytes=128", "stride=256", "passes=2", "ctas=4"});
    // Line 0 is at home in partition 0; SM 2 is the first of partition 1.
    const std::size_t far = told.step_with("SM 2 reads line 0x0");
    REQUIRE(far != 0);
    CHECK_THAT(told.lesson.sentence(far),
               Contains("line miss, fetch 128 B from slice 0 over the fabric, for partition 0 is its home"));
    const std::size_t home = told.step_with("partition 0, the home of line 0x0");
    REQUIRE(home > far);
    CHECK_THAT(told.lesson.sentence(home), Contains("on the way: hit; a copy crosses"));  // SM 0 asked before
    const std::size_t merged = told.step_with("SM 1 reads line 0x0");
    CHECK_THAT(told.lesson.sentence(merged), Contains("the coalescer merges them, no slice sees it"));
}

TEST_CASE("A fifth line of a set pushes the oldest out") {
    Told told("strided", {"pieces=40", "bytes=128"});
    const std::size_t step = told.step_with("the one of the set unused for longest, makes room");
    REQUIRE(step != 0);
    const Access& access = told.lesson.access(step);
    // Whose name it says was told of earlier, in the same set of the same slice.
    bool seen = false;
    for (std::size_t s = 1; s < step; ++s) {
        const std::string name =
            "line " + told.lesson.narrator().line_text(told.lesson.access(s).step).substr(5);
        const std::string number = name.substr(0, name.find(' ', 5));
        if (told.lesson.sentence(step).find(number + ", the one of the set") != std::string::npos)
            seen = told.lesson.narrator().set_of(told.lesson.access(s).step.line) ==
                   told.lesson.narrator().set_of(access.step.line);
    }
    CHECK(seen);
}

TEST_CASE("A dirty line that is the oldest of its set is told to be written back, and stays") {
    // 64 rows of one line each are read, and written elsewhere: four times what the L2 holds.
    Told told("copy", {"m=64", "n=64", "bm=8", "bn=64"});
    const std::size_t step = told.step_with("dirty and unused for longest, is written back and stays");
    REQUIRE(step != 0);
    CHECK(told.lesson.access(step).step.cleaned.dirty != 0);
    const std::size_t other = told.step_with("the clean one of the set unused for longest, makes room");
    REQUIRE(other != 0);
    CHECK_FALSE(told.lesson.access(other).step.tag_found);
    // Where all lines of a set are dirty, the oldest does not stay.
    Machine machine = load_machine("tiny");
    machine.l2.ways = machine.l2.dirty_ways = 1;
    Told without_room("copy", {"m=64", "n=64", "bm=8", "bn=64"}, machine);
    const std::size_t step_of_it =
        without_room.step_with("the oldest of 1 dirty line, is written back; line");
    REQUIRE(step_of_it != 0);
    const LaneStep& told_of = without_room.lesson.access(step_of_it).step;
    CHECK(told_of.cleaned.way == told_of.way);
}

TEST_CASE("The tally after the last step is the run's counters") {
    const Machine machine = load_machine("tiny");
    const Kernel kernel = load_kernel("gemm", {"m=32", "n=32", "k=64", "bm=8", "bn=8"}, &machine);
    const Tape tape = record_tape(machine, kernel, test::in_order(kernel), 1, TapeOptions{});
    const Events events = tape.events;
    const Lesson lesson(machine, kernel, "row_major", tape);
    const Tally tally = lesson.tally(lesson.steps());
    CHECK(tally.asked == events[Event::CoalescableSectors]);
    CHECK(tally.merged == events[Event::MergedSectors]);
    CHECK(tally.from_dram == events[Event::FillSectors]);
    CHECK(tally.over_fabric == events[Event::FabricReadSectors] + events[Event::FabricWriteSectors]);
    CHECK(tally.looked_up ==
          events[Event::TexReadSectors] + events[Event::TexWriteSectors] + tally.over_fabric);
    CHECK(tally.hits == events[Event::TexReadHits] + events[Event::TexWriteSectors] -
                            events[Event::TexWriteMisses] + events[Event::FabricReadHits] +
                            events[Event::FabricWriteSectors]);
}

TEST_CASE("The picture of the sets marks the line a step was about") {
    Told told("strided", {"pieces=4", "bytes=32", "stride=32"});
    CHECK_THAT(told.lesson.sets(1, false), Contains("[0x0 ##..]") && Contains("slice 1 (partition 1)"));
    CHECK_THAT(told.lesson.sets(3, false), Contains("[0x0 ####]"));
    CHECK_THAT(told.lesson.sets(1, false), Contains("[0x0 ##..]"));
}
