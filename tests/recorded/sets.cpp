// SPDX-License-Identifier: Apache-2.0
// What is a set of the L2? An H200's and an H100's, line by line (traces/h200/sets.csv,
// traces/h100/sets.csv): how many lines it has of 256 MiB, when it gives one up, and which lines these are.
#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
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

// In which fifth of the sets of an H200's slice a line is (traces/h200/README.md, sets.csv): each slice has
// one line of as many as there are slices, a fifth is filled by 64 of them, and in each 256 the order of the
// fifths is turned by an XOR of which 256 they are. The fifths' numbers are arbitrary. The buffer began 76
// pages of 2 MiB behind where the turns do.
int fifth_of_sets(LineNumber line, int slices) {
    const std::uint32_t of_slice = (line + (76u << 14)) / static_cast<std::uint32_t>(slices);
    const std::uint32_t above = of_slice / 256;
    const auto low = static_cast<std::uint32_t>(__builtin_parity(above & 0b1101'1111));
    const auto high = static_cast<std::uint32_t>(!__builtin_parity(above & 0b1100'1000));
    return static_cast<int>(((of_slice / 64) ^ (high << 1 | low)) % 5);
}

// Of the lines of a recorded set, the share in the fifth that has most of them: the mean over the sets.
double share_in_one_fifth(int slices) {
    const auto rows = test::recorded_rows("sets.csv");
    double sum = 0;
    for (const auto& row : rows) {
        std::array<double, 5> lines{};
        double all = 0;
        for (const LineNumber line : SetLines(row).both()) {
            ++lines[static_cast<std::size_t>(fifth_of_sets(line, slices))];
            ++all;
        }
        sum += *std::max_element(lines.begin(), lines.end()) / all;
    }
    return sum / static_cast<double>(rows.size());
}

}  // namespace

TEST_CASE("A set of the model gives a line up when the GPU's does, for lines of either home") {
    for (const auto& [gpu, machine] : {std::pair{"h200", "h200"}, std::pair{"h100", "h100-sxm"}}) {
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

TEST_CASE("A GPU has as many sets as the model: each has its share of 256 MiB") {
    struct Recorded {
        const char *gpu, *machine;
        double within;  // seen: 136 to 142 lines of 139.4, 162 to 166 of 163.8
    };
    for (const auto& [gpu, machine, within] :
         {Recorded{"h200", "h200", 3.5}, Recorded{"h100", "h100-sxm", 3}}) {
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

// The order in which the model's map fills sets is another one (docs/fidelity.md).
TEST_CASE("Memory goes round as many slices of an H200 as the model has, a fifth of their sets at a time") {
    const Machine machine = load_machine("h200");
    CHECK(AddressMap(machine).sets() == 5 * 64);
    CHECK(share_in_one_fifth(machine.slices()) > 0.94);  // the rest are where fifths change
    for (const int others : {-2, -1, 1, 2}) CHECK(share_in_one_fifth(machine.slices() + others) < 0.3);
}
