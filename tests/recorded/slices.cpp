// SPDX-License-Identifier: Apache-2.0
// Which slice serves an address? Of an H200 and of an H100, asked granule by granule from either side
// (traces/h200/slices.csv, traces/h100/slices.csv): all of a page, some of the pages behind it, some of 64
// GiB.
#include <cstdint>
#include <map>
#include <set>
#include <utility>

#include "load/machine_file.hpp"
#include "memory/address_map.hpp"
#include "support/catch.hpp"
#include "support/recorded.hpp"

using namespace l2lens;

namespace {

struct Recorded {
    const char *gpu, *machine;
    LineNumber first_page;  // of the buffer, 2 MiB each: of 16384, the only one that makes the hash linear
};
constexpr Recorded kRecorded[] = {{"h200", "h200", 919}, {"h100", "h100-sxm", 899}};

constexpr LineNumber kLinesOfPage = (2 << 20) / kLineBytes;
constexpr LineNumber kLinesOfGranule = 256 / kLineBytes;

}  // namespace

TEST_CASE("The model's slices are those of the GPU, from either side, but for their numbers") {
    for (const auto& [gpu, machine, first_page] : kRecorded) {
        const AddressMap map(load_machine(machine));
        std::map<std::pair<int, int>, std::set<int>> recorded_as;  // (side, lane) -> slice numbers
        std::map<std::pair<int, int>, std::set<int>> lane_of;      // (side, slice number) -> lanes
        int granules = 0;
        for (const auto& row : test::recorded_rows("slices.csv", gpu)) {
            const LineNumber line =
                first_page * kLinesOfPage + static_cast<LineNumber>(row["granule"]) * kLinesOfGranule;
            const int side = static_cast<int>(row["side"]), slice = static_cast<int>(row["slice"]);
            recorded_as[{side, map.lane(line)}].insert(slice);
            lane_of[{side, slice}].insert(map.lane(line));
            ++granules;
        }
        INFO(machine << ", " << granules << " granules");
        CHECK(granules > 11000);
        CHECK(recorded_as.size() == 2 * static_cast<std::size_t>(map.lanes()));
        for (const auto& [lane, slices] : recorded_as) CHECK(slices.size() == 1);
        for (const auto& [slice, lanes] : lane_of) CHECK(lanes.size() == 1);
    }
}
