// SPDX-License-Identifier: Apache-2.0
// Does the model's slice hash load slices as unevenly as the GPU's? Lines at a stride, each read over and
// over by one SM (traces/h200/strides.csv).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "load/machine_file.hpp"
#include "memory/address_map.hpp"
#include "report/statistics.hpp"
#include "support/catch.hpp"
#include "support/recorded.hpp"

using namespace l2lens;

namespace {

// Line i is read by SM i mod 132, so it counts in the slice of that SM's partition.
double fullest_over_mean(const Machine& machine, const AddressMap& map, std::uint64_t base,
                         std::uint64_t stride, std::uint64_t count) {
    std::vector<double> lines(static_cast<std::size_t>(machine.slices()), 0);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto line = static_cast<LineNumber>((base + i * stride) / kLineBytes);
        const auto partition = static_cast<std::size_t>(machine.sms[i % machine.sms.size()].partition);
        const auto slices = static_cast<std::size_t>(machine.l2.slices_per_partition);
        ++lines[partition * slices + static_cast<std::size_t>(map.lane(line))];
    }
    return *std::max_element(lines.begin(), lines.end()) / mean(lines);
}

// Spearman's rho: the correlation of the ranks, ties at their mean rank.
std::vector<double> ranks(const std::vector<double>& values) {
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    std::vector<double> result;
    for (const double value : values) {
        const auto [first, last] = std::equal_range(sorted.begin(), sorted.end(), value);
        result.push_back(static_cast<double>((first - sorted.begin()) + (last - sorted.begin()) - 1) / 2);
    }
    return result;
}

double correlation(const std::vector<double>& a, const std::vector<double>& b) {
    double ab = 0, aa = 0, bb = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double da = a[i] - mean(a), db = b[i] - mean(b);
        ab += da * db;
        aa += da * da;
        bb += db * db;
    }
    return ab / std::sqrt(aa * bb);
}

double mean_error(const std::vector<double>& predicted, const std::vector<double>& measured) {
    double sum = 0;
    for (std::size_t i = 0; i < measured.size(); ++i) sum += std::abs(predicted[i] - measured[i]);
    return sum / static_cast<double>(measured.size());
}

}  // namespace

TEST_CASE("The fullest slice has as many lines of a stride as the GPU's") {
    // The buffer lay at the top of the memory: of 72000 pages this one gives all rows of up to 1024 lines,
    // the next best 159 of 205.
    constexpr std::uint64_t kBuffer = std::uint64_t{62745} << 21;
    const Machine machine = load_machine("h200");
    const AddressMap map(machine);
    std::vector<double> predicted;
    std::vector<double> measured;
    for (const auto& row : test::recorded_rows("strides.csv")) {
        const auto count = static_cast<std::uint64_t>(row["count"]);
        const auto stride = static_cast<std::uint64_t>(row["stride"]);
        const auto base = kBuffer + static_cast<std::uint64_t>(row["base"]);
        predicted.push_back(fullest_over_mean(machine, map, base, stride, count));
        // Reading the list of lines is counted, too: 64 reads of up to three lines.
        const double lines = row["lts__t_sectors_srcunit_tex.max"] / row["rounds"];
        INFO(count << " lines at " << stride << " B");
        CHECK(predicted.back() * static_cast<double>(count) / machine.slices() ==
              Approx(lines).margin(count <= 1024 ? 1 : 3.5));
        measured.push_back(row["lts__t_sectors_srcunit_tex.max"] / row["lts__t_sectors_srcunit_tex.avg"]);
    }
    REQUIRE(measured.size() > 300);
    CHECK(correlation(ranks(predicted), ranks(measured)) >= 0.99);
    const std::vector<double> constant(measured.size(),
                                       percentile(measured, 0.5));  // the best constant there is
    CHECK(mean_error(predicted, measured) < 0.1 * mean_error(constant, measured));
}

TEST_CASE("Nothing camps on a slice at a power of two") {
    // 256 lines at any stride from 128 B to 1 MiB: the GPU's fullest slice has 5 to 11 of them, of 2.7 in the
    // mean.
    const Machine machine = load_machine("h200");
    const AddressMap map(machine);
    for (std::uint64_t stride = 128; stride <= 1 << 20; stride *= 2) {
        INFO("stride " << stride);
        CHECK(fullest_over_mean(machine, map, 0, stride, 256) < 4.2);
    }
}
