// SPDX-License-Identifier: Apache-2.0
// What is a set of the L2? An H100's, line by line (traces/h100/sets.csv): how many lines it has of 256 MiB,
// and when it gives one up.
#include <sstream>
#include <string>

#include "load/machine_file.hpp"
#include "memory/address_map.hpp"
#include "support/catch.hpp"
#include "support/recorded.hpp"

using namespace l2lens;

namespace {

constexpr LineNumber kLines = (256u << 20) / kLineBytes;  // that were searched

// Of the probed line's set, of both homes, itself among them.
int recorded_lines(const test::RecordedCells& row) {
    std::istringstream numbers(row.text("near_lines") + " " + row.text("far_lines"));
    int lines = 1;
    for (LineNumber line = 0; numbers >> line;) ++lines;
    return lines;
}

}  // namespace

TEST_CASE("An H100's set holds as many lines as the model's, of both homes alike, and loses the oldest") {
    const Machine machine = load_machine("h100-sxm");
    for (const auto& row : test::recorded_rows("sets.csv", "h100")) {
        INFO("line " << row.text("probed_line"));
        CHECK(row["ways"] == machine.l2.ways);
        for (const char* column :
             {"lost_after_near", "lost_after_near_touched_again", "lost_after_far", "lost_after_both"})
            CHECK(row[column] == machine.l2.ways);
    }
}

TEST_CASE("An H100 has as many sets as the model: each has its share of 256 MiB") {
    const Machine machine = load_machine("h100-sxm");
    const AddressMap map(machine);
    const double share = static_cast<double>(kLines) / map.lanes() / map.sets();
    double recorded = 0;
    const auto rows = test::recorded_rows("sets.csv", "h100");
    for (const auto& row : rows) {
        const int lines = recorded_lines(row);
        INFO("line " << row.text("probed_line") << ": " << lines << " lines for " << share);
        CHECK(lines == Approx(share).margin(3));  // seen: 162 to 166
        recorded += lines / static_cast<double>(rows.size());
    }
    CHECK(recorded == Approx(share).epsilon(0.005));
}
