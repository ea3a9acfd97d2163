// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_delays: how long single lines take from the L2 and from DRAM, and how that grows with what DRAM
// has to do, as rows of traces/h200/delays.csv (its README says what the columns are).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

#include "base/error.hpp"

#include "gpu/probe/bench.hpp"
#include "gpu/tests/line_delays.hpp"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kTimedBytes = 64 * kMiB;  // whose homes the probe knows
constexpr std::size_t kLines = 3200;

// A line of each of many 4 KiB chunks with this home. Half of the chunks are left to what is loaded first.
std::vector<std::uint64_t> lines_homed(const ProbeBench& bench, bool far) {
    constexpr unsigned kSeed = 1;
    std::mt19937 random(kSeed);
    std::vector<std::uint64_t> offsets;
    for (std::size_t chunk = 0; chunk < bench.far_from_sm0.size(); ++chunk)
        if (bench.far_from_sm0[chunk] == far && chunk % 16 < 8)
            offsets.push_back(chunk * kChunkBytes + random() % 32 * 128);
    std::shuffle(offsets.begin(), offsets.end(), random);
    offsets.resize(std::min(offsets.size(), kLines));
    return offsets;
}

double mean(const std::vector<double>& values) {
    return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double mean_slowest(const std::vector<double>& ns, int at_once) {
    std::vector<double> slowest;
    for (std::size_t i = 0; i + static_cast<std::size_t>(at_once) <= ns.size();
         i += static_cast<std::size_t>(at_once)) {
        const auto first = ns.begin() + static_cast<std::ptrdiff_t>(i);
        slowest.push_back(*std::max_element(first, first + at_once));
    }
    return mean(slowest);
}

void record(const ProbeBench& bench, const DeviceRoles& roles, bool resident, bool far, int at_once,
            int in_flight) {
    const TimedLines lines{lines_homed(bench, far), at_once, resident};
    const Streams streams{kTimedBytes, 4 * kMiB, in_flight};
    bench.flush();
    const LineDelays delays = time_lines(bench.buffer(), lines, streams, roles);
    std::vector<double> sorted = delays.ns;
    std::sort(sorted.begin(), sorted.end());
    std::printf("%s,%s,%d,%d,%.0f,%zu,%.1f,%.1f", resident ? "resident" : "missing", far ? "far" : "near",
                at_once, in_flight, delays.bytes_per_ns, sorted.size(), mean(sorted),
                mean_slowest(delays.ns, at_once));
    for (const double share : {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99})
        std::printf(",%.0f", sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size()))]);
    std::printf("\n");
}

}  // namespace

int main(int count, char**) {
    try {
        if (count > 1) throw BadInput("l2lens_gpu_delays takes no word");
        ProbeBench bench;
        if (!bench.has_clusters()) throw Unavailable("bulk copies need compute capability 9.0 or newer");
        probe_sides(bench);
        const DeviceRoles roles(Roles::all(bench.sms()));
        std::printf(
            "lines,home,at_once,in_flight,streamed_bytes_per_ns,samples,mean_ns,slowest_ns,p1_ns,p10_ns,p25_"
            "ns,"
            "p50_ns,p75_ns,p90_ns,p99_ns\n");
        for (const int in_flight : {0, 1, 2, 3, 4, 6, 8, 12})
            for (const bool resident : {false, true})
                for (const bool far : {false, true})
                    for (const int at_once : {1, kMaxLinesAtOnce})
                        record(bench, roles, resident, far, at_once, in_flight);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
