// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_sets: which lines share a set of the L2, and which of them a set gives up, as rows of CSV.
// Usage: l2lens_gpu_sets [LINES], so many probed lines at random, 100 unless told.
//
// Of each set whose lines are found (set_probe.cuh) lines are read one by one until the probed line is lost:
// near ones, near ones after the probed line was touched again behind the set less one (least recently used,
// or first in first out?), far ones, both in turn. A probed line whose set is not found is skipped.
//
// Columns: probed_line and those of near_lines and far_lines (with spaces between) are numbers of 128 B lines
// from the buffer's start; ways; lost_after_*: the least number of lines after which the probed line was lost
// in all tries, empty where it never was or there are no such lines.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/tests/set_probe.cuh"

using namespace l2lens;
using namespace l2lens::gpu;
using namespace l2lens::gpu::set_probe;

namespace {

constexpr int kTries = 8;
constexpr unsigned kMostRead = 39;  // one by one
constexpr int kNever = -1;

// What is read one by one after the probed line.
enum class Then { Near, NearTouchedAgain, Far, Both };
constexpr int kThens = 4;

struct Found {
    SetLines set;
    int lost_after[kThens];
};

__device__ std::uint32_t load_all(const Bench& bench, const LineList& list) {
    std::uint32_t sum = 0;
    for (unsigned i = 0; i < list.count; ++i) sum += load(bench, list.lines[i]);
    return sum;
}

// One by one, of near lines and far lines from their `start`th on.
__device__ void read_then(const Bench& bench, Then then, unsigned count, unsigned start) {
    const LineList& near_lines = bench.shared.found.near_lines;
    const LineList& far_lines = bench.shared.found.far_lines;
    // Not from those of the set, which can be there still.
    const unsigned near_start = start % max(bench.shared.near_others, 1u);
    for (unsigned i = 0; i < count; ++i) {
        const bool far = then == Then::Far || (then == Then::Both && i % 2 == 1);
        const unsigned step = then == Then::Both ? i / 2 : i;
        const LineList& list = far ? far_lines : near_lines;
        read_line(bench, list.lines[((far ? start : near_start) + step) % list.count]);
    }
}

__device__ bool is_lost_after(const Bench& bench, Then then, unsigned count, unsigned start) {
    const Shared& shared = bench.shared;
    __syncthreads();
    if (threadIdx.x == 0) {
        // So that whatever the set holds was there before the probed line.
        wait_for(load_all(bench, shared.found.near_lines) + load_all(bench, shared.found.far_lines));
        read_line(bench, shared.found.probed);
        if (then == Then::NearTouchedAgain) {
            for (unsigned i = 0; i + 1 < shared.found.ways; ++i) read_line(bench, shared.set[i]);
            read_line(bench, shared.found.probed);
        }
        read_then(bench, then, count, start);
    }
    return probed_is_lost(bench);
}

__device__ bool is_always_lost_after(const Bench& bench, Then then, unsigned count) {
    constexpr int kStarts = 4, kStartsApart = 8;
    for (int i = 0; i < kTries; ++i)
        if (!is_lost_after(bench, then, count, i % kStarts * kStartsApart)) return false;
    return true;
}

__device__ int lost_after(const Bench& bench, Then then) {
    const SetLines& found = bench.shared.found;
    const bool reads_near = then != Then::Far, reads_far = then == Then::Far || then == Then::Both;
    if (reads_near && found.near_lines.count == 0) return kNever;
    if (reads_far && found.far_lines.count == 0) return kNever;
    for (unsigned count = 0; count <= kMostRead; ++count)
        if (is_always_lost_after(bench, then, count)) return static_cast<int>(count);
    return kNever;
}

__global__ void probe_set(char* buffer, Sides sides, unsigned place, Found* result) {
    __shared__ Shared shared;
    const Bench bench{buffer, sides, shared};
    const bool complete = find_lines_of_set(bench, place);
    for (int then = 0; complete && then < kThens; ++then) {
        const int count = lost_after(bench, static_cast<Then>(then));
        if (threadIdx.x == 0) result->lost_after[then] = count;
    }
    __syncthreads();
    if (threadIdx.x != 0) return;
    shared.found.complete = complete;
    result->set = shared.found;
}

Found probe(char* buffer, const Sides& sides, unsigned place) {
    const DeviceBuffer<Found> result(1);
    probe_set<<<1, kThreads>>>(buffer, sides, place, result.get());
    check_launch("probing a set");
    return result.to_host().front();
}

void print_lines(const LineList& list) {
    std::vector<Line> lines(list.lines, list.lines + list.count);
    std::sort(lines.begin(), lines.end());
    lines.erase(std::unique(lines.begin(), lines.end()), lines.end());
    const char* before = ",";
    for (const Line line : lines) {
        std::printf("%s%u", before, line);
        before = " ";
    }
    if (lines.empty()) std::printf(",");
}

void print(const Found& found) {
    std::printf("%u,%u", found.set.probed, found.set.ways);
    print_lines(found.set.near_lines);
    print_lines(found.set.far_lines);
    for (const int count : found.lost_after)
        std::printf(",%s", count == kNever ? "" : std::to_string(count).c_str());
    std::printf("\n");
    std::fflush(stdout);
}

}  // namespace

int main(int count, char** words) {
    try {
        const int lines = lines_in(count, words, 100);
        std::printf(
            "probed_line,ways,near_lines,far_lines,lost_after_near,lost_after_near_touched_again,lost_after_"
            "far,"
            "lost_after_both\n");
        probe_sets(lines, probe, print);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
