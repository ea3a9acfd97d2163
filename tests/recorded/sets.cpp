// SPDX-License-Identifier: Apache-2.0
// What is a set of the L2? An H200's and an H100's, line by line (sets.csv and dirty_sets.csv of traces/h200
// and traces/h100): how many lines it has of 256 MiB, when it gives one up, and which lines these are.
#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "load/machine_file.hpp"
#include "memory/address_map.hpp"
#include "memory/sector_cache.hpp"
#include "support/catch.hpp"
#include "support/recorded.hpp"

using namespace l2lens;

namespace {

constexpr LineNumber kLines = (256u << 20) / kLineBytes;  // that were searched

std::vector<LineNumber> numbers(const std::string& text) {
    std::istringstream words(text);
    return {std::istream_iterator<LineNumber>(words), {}};
}

// Lines of one set, as a recording tells them apart.
struct SetLines {
    LineNumber probed;
    std::vector<LineNumber> near, far;

    explicit SetLines(const test::RecordedCells& row)
        : probed(numbers(row.text("probed_line")).front()),
          near(numbers(row.text("near_lines"))),
          far(numbers(row.text("far_lines"))) {}

    // In turn, a near one first.
    std::vector<LineNumber> both() const {
        std::vector<LineNumber> lines;
        for (std::size_t i = 0; i < std::min(near.size(), far.size()); ++i) {
            lines.push_back(near[i]);
            lines.push_back(far[i]);
        }
        return lines;
    }
};

// How many of the lines in `then` a set of the model takes, after the probed line, until that is lost. With
// `again`, the probed line was read again behind the last so many of them.
int lost_after(int ways, LineNumber probed, const std::vector<LineNumber>& then, int again = 0) {
    SectorCache set(1, ways);
    set.find_or_allocate(0, probed);
    if (again > 0) {
        for (auto line = then.end() - again; line != then.end(); ++line) set.find_or_allocate(0, *line);
        set.find_or_allocate(0, probed);
    }
    int read = 0;
    for (; set.contains(0, probed); ++read) set.find_or_allocate(0, then.at(static_cast<std::size_t>(read)));
    return read;
}

// The same of one of `written` lines, the `asked`-th: others were read behind them until the set was full,
// then `again` was done, then others read until it is lost.
int written_lost_after(const Machine::L2& l2, const test::RecordedCells& row) {
    SectorCache set(1, l2.ways, l2.dirty_ways);
    const auto read = [&](LineNumber line) { set.find_or_allocate(0, line); };
    const auto write = [&](LineNumber line) { set.write(0, set.find_or_allocate(0, line).way, kWholeLine); };
    const bool copies = row.text("lines") == "far";  // at home they are dirty, here they are not
    const auto written = static_cast<LineNumber>(row["written"]);
    const auto ways = static_cast<LineNumber>(l2.ways);
    for (LineNumber line = 0; line < ways; ++line) line < written && !copies ? write(line) : read(line);
    const std::string& again = row.text("again");
    if (again == "read_youngest") read(ways - 1);
    if (again == "write_youngest") write(ways - 1);
    if (again == "read_oldest") read(0);
    const auto asked = static_cast<LineNumber>(row["asked"]) - 1;
    int others = 0;
    for (; set.contains(0, asked); ++others) read(ways + static_cast<LineNumber>(others));
    return others;
}

// Both GPUs' buffers for sets.csv began at this page of 2 MiB of the memory.
constexpr LineNumber kFirstLine = 264u << 14;

struct Recorded {
    const char *gpu, *machine;
};
constexpr Recorded kRecorded[] = {{"h200", "h200"}, {"h100", "h100-sxm"}};

}  // namespace

TEST_CASE("A set of the model gives a line up when the GPU's does, for lines of either home") {
    for (const auto& [gpu, machine] : kRecorded) {
        const int ways = load_machine(machine).l2.ways;
        for (const auto& row : test::recorded_rows("sets.csv", gpu)) {
            INFO(machine << ", line " << row.text("probed_line"));
            const SetLines lines(row);
            CHECK(ways == row["ways"]);
            CHECK(lost_after(ways, lines.probed, lines.near) == row["lost_after_near"]);
            CHECK(lost_after(ways, lines.probed, lines.near, ways - 1) ==
                  row["lost_after_near_touched_again"]);
            CHECK(lost_after(ways, lines.probed, lines.far) == row["lost_after_far"]);
            CHECK(lost_after(ways, lines.probed, lines.both()) == row["lost_after_both"]);
        }
    }
}

TEST_CASE("A set of the model gives written lines up when the GPU's does") {
    for (const auto& [gpu, machine] : kRecorded) {
        const Machine::L2 l2 = load_machine(machine).l2;
        for (const auto& row : test::recorded_rows("dirty_sets.csv", gpu)) {
            INFO(machine << ", " << row.text("written") << " " << row.text("lines")
                         << " lines written, again " << row.text("again") << ", " << row.text("asked")
                         << " asked");
            const int lost_after = written_lost_after(l2, row);
            CHECK(lost_after == row["lost_after_least"]);
            CHECK(lost_after == row["lost_after_most"]);
        }
    }
}

TEST_CASE("A GPU has as many sets as the model: each has its share of 256 MiB") {
    struct Share {
        const char *gpu, *machine;
        double within;  // seen: 136 to 142 lines of 139.4, 162 to 166 of 163.8
    };
    for (const auto& [gpu, machine, within] : {Share{"h200", "h200", 3.5}, Share{"h100", "h100-sxm", 3}}) {
        const AddressMap map(load_machine(machine));
        const double share = static_cast<double>(kLines) / map.lanes() / map.sets();
        double recorded = 0;
        const auto rows = test::recorded_rows("sets.csv", gpu);
        for (const auto& row : rows) {
            const SetLines set(row);
            const auto lines = static_cast<double>(1 + set.near.size() + set.far.size());
            INFO(machine << ", line " << set.probed << ": " << lines << " lines for " << share);
            CHECK(lines == Approx(share).margin(within));
            recorded += lines / static_cast<double>(rows.size());
        }
        CHECK(recorded == Approx(share).epsilon(0.005));
    }
}

TEST_CASE("The model puts the lines of each recorded set into one set, and of no two into the same") {
    for (const auto& [gpu, machine] : kRecorded) {
        const AddressMap map(load_machine(machine));
        std::map<std::pair<int, std::uint32_t>, std::set<std::vector<LineNumber>>> sets;
        std::size_t apart = 0, lines = 0;
        for (const auto& row : test::recorded_rows("sets.csv", gpu)) {
            const SetLines set(row);
            std::vector<LineNumber> all = set.near;
            all.insert(all.end(), set.far.begin(), set.far.end());
            all.push_back(set.probed);
            std::ranges::sort(all);
            const LineNumber probed = kFirstLine + set.probed;
            sets[{map.lane(probed), map.set(probed)}].insert(all);
            for (const LineNumber line : all)
                apart += map.lane(kFirstLine + line) != map.lane(probed) ||
                         map.set(kFirstLine + line) != map.set(probed);
            lines += all.size();
        }
        INFO(machine << ": " << apart << " of " << lines << " lines");
        CHECK(apart == 0);
        // Some were recorded twice, from two of their lines.
        for (const auto& [place, recorded] : sets) CHECK(recorded.size() == 1);
    }
}
