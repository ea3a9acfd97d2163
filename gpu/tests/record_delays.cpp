// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_delays [all|sides]: how long single lines take from the L2 and from DRAM, and how that grows
// with what all other SMs stream, or those of either side of the L2, as rows of delays.csv and sides.csv of
// traces/h200 (its README says what the columns are).
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>
#include <string>
#include <vector>

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

constexpr Streams kAllFromDram{kTimedBytes, 4 * kMiB};

// The rest of a row: what all that stream get, and how long the lines take.
void print(double bytes_per_ns, const std::vector<double>& ns, int at_once) {
    std::vector<double> sorted = ns;
    std::sort(sorted.begin(), sorted.end());
    std::printf(",%.0f,%zu,%.1f,%.1f", bytes_per_ns, sorted.size(), mean(sorted), mean_slowest(ns, at_once));
    for (const double share : {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99})
        std::printf(",%.0f", sorted[static_cast<std::size_t>(share * static_cast<double>(sorted.size()))]);
    std::printf("\n");
    std::fflush(stdout);
}

void record(const ProbeBench& bench, const DeviceRoles& roles, bool resident, bool far, int at_once,
            const Streams& streams) {
    const TimedLines lines{lines_homed(bench, far), at_once, resident};
    bench.flush();
    const LineDelays delays = time_lines(bench.buffer(), lines, streams, roles);
    std::printf("%s,%s,%d,%d", resident ? "resident" : "missing", far ? "far" : "near", at_once,
                streams.in_flight);
    print(delays.bytes_per_ns, delays.ns, at_once);
}

constexpr const char* kColumns =
    "lines,home,at_once,in_flight,streamed_bytes_per_ns,samples,mean_ns,slowest_ns,p1_ns,p10_ns,p25_ns,"
    "p50_ns,p75_ns,p90_ns,p99_ns\n";

void record_all(const ProbeBench& bench) {
    const DeviceRoles roles(Roles::all(bench.sms()));
    std::printf("%s", kColumns);
    for (const int in_flight : {0, 1, 2, 3, 4, 6, 8, 12}) {
        Streams streams = kAllFromDram;
        streams.in_flight = in_flight;
        for (const bool resident : {false, true})
            for (const bool far : {false, true})
                for (const int at_once : {1, kMaxLinesAtOnce})
                    record(bench, roles, resident, far, at_once, streams);
    }
}

// Of the SMs of each side of the L2, SM 0 left out: how many stream.
struct Streaming {
    std::size_t own = 0, other = 0;
    std::size_t hitting = 0;  // of those of the other side, who walk what the L2 holds
};

void record_sides(const ProbeBench& bench, const Streaming& streaming, int in_flight) {
    const int mine = bench.partition_of_sm[0];
    std::vector<int> sms{0};
    const auto add = [&](int partition, std::size_t count) {
        std::vector<int> side = bench.sms_of_partition(partition);
        side.erase(std::remove(side.begin(), side.end(), 0), side.end());
        for (std::size_t i = 0; i < count; ++i) sms.push_back(side[i * side.size() / count]);
    };
    add(mine, streaming.own);
    add(1 - mine, streaming.other);
    const DeviceRoles roles(Roles::of(sms, bench.sms()));
    // Together 36 MiB: more than a side of the L2 keeps, and what of it is homed on the other side stays
    // there.
    constexpr std::int64_t kHits = 36 * kMiB;
    Streams streams = kAllFromDram;
    streams.in_flight = in_flight;
    streams.small = static_cast<int>(streaming.hitting);
    if (streaming.hitting > 0) streams.small_bytes = kHits / static_cast<std::int64_t>(streaming.hitting);
    for (const bool resident : {false, true}) {
        for (const bool far : {false, true}) {
            std::printf("%zu,%zu,%zu,", streaming.own, streaming.other, streaming.hitting);
            record(bench, roles, resident, far, 1, streams);
        }
    }
}

void record_all_sides(const ProbeBench& bench) {
    std::printf("own_sms,other_sms,hitting_sms,%s", kColumns);
    record_sides(bench, {}, 0);
    constexpr Streaming kStreaming[] = {{65, 0},  {0, 66},  {0, 44},  {0, 33},  {22, 66},
                                        {44, 66}, {65, 22}, {65, 44}, {33, 33}, {65, 66}};
    for (const Streaming& streaming : kStreaming)
        for (const int in_flight : {1, 2, 3, 4, 6}) record_sides(bench, streaming, in_flight);
    constexpr std::size_t kHitting[] = {22, 33, 44, 55, 60, 63, 66};
    for (const std::size_t hitting : kHitting)
        for (const int in_flight : {2, 3, 4}) record_sides(bench, {0, 66, hitting}, in_flight);
}

}  // namespace

int main(int count, char** words) {
    try {
        const std::string set = count > 1 ? words[1] : "all";
        if (count > 2 || (set != "all" && set != "sides"))
            throw BadInput("l2lens_gpu_delays takes one word, all or sides, or none for all");
        ProbeBench bench;
        if (!bench.has_clusters()) throw Unavailable("bulk copies need compute capability 9.0 or newer");
        probe_sides(bench);
        if (set == "all")
            record_all(bench);
        else
            record_all_sides(bench);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
