// SPDX-License-Identifier: Apache-2.0
// How evenly do pieces of memory fill sets? What a cyclic walk of near lines loses to overfull sets, pass by
// pass (traces/h200/blocks.csv), against the lines that the model's address map puts into such sets.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <vector>

#include "load/machine_file.hpp"
#include "memory/address_map.hpp"
#include "support/catch.hpp"
#include "support/effort.hpp"
#include "support/recorded.hpp"

using namespace l2lens;

namespace {

constexpr std::uint64_t kPageBytes = 2 << 20;

// Of what was read, the share that each pass after the first one fetched again.
double recorded_share(const test::RecordedCells& row) {
    const double sectors = row["mib"] * (1 << 20) / kSectorBytes;
    return (row["lts__d_sectors_fill_device.sum"] / sectors - 1) / (row["passes"] - 1);
}

// First bytes of the pieces. Half of each piece is near: the walk reads twice row["mib"].
std::vector<std::uint64_t> pieces(const test::RecordedCells& row) {
    const double bytes = 2 * row["mib"] * (1 << 20);
    std::vector<std::uint64_t> first;
    if (row.text("pattern") == "pitch") {
        const auto count = static_cast<std::uint64_t>(std::ceil(bytes / row["piece_bytes"]));
        for (std::uint64_t i = 0; i < count; ++i)
            first.push_back(i * static_cast<std::uint64_t>(row["pitch_bytes"]));
        return first;
    }
    std::istringstream pages(row.text("first_pages"));
    for (std::uint64_t page = 0; pages >> page;) first.push_back(page * kPageBytes);
    return first;
}

// The share of the near lines that lie in sets with more of them than ways: LRU keeps none of those. The
// buffer begins at some page.
double predicted_share(const AddressMap& map, int ways, const test::RecordedCells& row, LineNumber buffer) {
    std::vector<int> lines(static_cast<std::size_t>(map.lanes()) * map.sets(), 0);
    auto left = static_cast<std::int64_t>(2 * row["mib"] * (1 << 20) / kLineBytes);
    for (const std::uint64_t first : pieces(row)) {
        const auto here = std::min(left, static_cast<std::int64_t>(row["piece_bytes"]) / kLineBytes);
        left -= here;
        for (std::int64_t i = 0; i < here; ++i) {
            const auto line =
                buffer + static_cast<LineNumber>(first / kLineBytes + static_cast<std::uint64_t>(i));
            if (map.home(line) == 0)
                ++lines[static_cast<std::size_t>(map.lane(line)) * map.sets() + map.set(line)];
        }
    }
    double all = 0, lost = 0;
    for (const int n : lines) {
        all += n;
        if (n > ways) lost += n;
    }
    return lost / all;
}

// Where the recorded buffers began is not known: the mean of some places. What is lost repeats after 16 x 47
// pages.
double predicted_share(const AddressMap& map, int ways, const test::RecordedCells& row) {
    constexpr LineNumber kPlaces = 16, kPagesApart = 97;
    double sum = 0;
    for (LineNumber place = 0; place < kPlaces; ++place)
        sum += predicted_share(map, ways, row, place * kPagesApart * (kPageBytes / kLineBytes));
    return sum / kPlaces;
}

// Root mean squares over the rows of a pattern with pieces of some sizes: of the model's error, and of what
// sets that all fill alike would be off by.
struct Errors {
    double model = 0, even = 0;
};

Errors errors(const char* pattern, double least_bytes, double most_bytes) {
    static const Machine machine = load_machine("h200");
    static const AddressMap map(machine);
    const double partition_mib =
        static_cast<double>(machine.l2.slices_per_partition * machine.l2.slice_bytes) / (1 << 20);
    Errors sum;
    int rows = 0;
    for (const auto& row : test::recorded_rows("blocks.csv", {{"pattern", pattern}})) {
        if (row["piece_bytes"] < least_bytes || row["piece_bytes"] > most_bytes) continue;
        const double recorded = recorded_share(row);
        sum.model += std::pow(predicted_share(map, machine.l2.ways, row) - recorded, 2);
        sum.even += std::pow((row["mib"] > partition_mib ? 1 : 0) - recorded, 2);
        ++rows;
    }
    REQUIRE(rows > 5);
    return {std::sqrt(sum.model / rows), std::sqrt(sum.even / rows)};
}

}  // namespace

TEST_CASE("A buffer fills sets evenly wherever it begins") {
    if (test::left_to_plain_builds()) return;
    const Errors buffers = errors("pages", 80 << 20, 80 << 20);
    INFO("off by " << buffers.model << ", all sets alike by " << buffers.even);
    CHECK(buffers.model <= 0.08);
    CHECK(buffers.model <= 0.3 * buffers.even);
}

TEST_CASE("Rows of matrices fill sets as if by chance") {
    if (test::left_to_plain_builds()) return;
    const Errors rows = errors("pitch", 256, 8192);
    INFO("off by " << rows.model << ", all sets alike by " << rows.even);
    CHECK(rows.model <= 0.025);
    CHECK(rows.model <= 0.2 * rows.even);
}

TEST_CASE("Pieces of 2 to 16 MiB that lie apart fill sets unevenly") {
    if (test::left_to_plain_builds()) return;
    const Errors scattered = errors("pages", 2 << 20, 16 << 20);
    INFO("off by " << scattered.model << ", all sets alike by " << scattered.even);
    CHECK(scattered.model <= 0.09);
    CHECK(scattered.model <= 0.4 * scattered.even);
}
