// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_dirty_sets: when a set of the L2 gives up lines that were written, as rows of CSV.
// Usage: l2lens_gpu_dirty_sets [LINES], of the sets of so many lines at random, 40 unless told.
//
// Of each set whose lines are found (set_probe.cuh) some are written whole, others are read until the set is
// full, one that is there is used again, or none, and then as many others are read as it takes to lose one of
// the written ones.
//
// Columns: lines: written ones are near, whose home is this side, or far, which leave a copy in it; written:
// how many; again: none, or what is used again: the youngest is read or written, the oldest is read; asked:
// which of the written lines, the oldest is 1; sets: so many; lost_after_least, lost_after_most: of all sets
// the least and the largest of the numbers of lines after which it was lost in more than half of the tries.
#include <algorithm>
#include <cstdio>
#include <span>
#include <vector>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/tests/set_probe.cuh"

using namespace l2lens;
using namespace l2lens::gpu;
using namespace l2lens::gpu::set_probe;

namespace {

constexpr unsigned kWarp = 32;
constexpr int kTries = 8;
constexpr unsigned kMostRead = 24;  // one by one; a set has 67 to 70 near lines, 15 of which found it
constexpr unsigned kApart = 5;      // lines that tries begin with

enum class Again { None, ReadYoungest, WriteYoungest, ReadOldest };
constexpr const char* kAgain[] = {"none", "read_youngest", "write_youngest", "read_oldest"};

struct Case {
    bool far;
    unsigned written;
    Again again;
    unsigned asked;
};

constexpr unsigned kMostCases = 128;
constexpr unsigned kMostWritten = 10;

struct Found {
    SetLines set;
    int lost_after[kMostCases];
};

// What follows is done by a warp, which takes the set's lines in turn.
class Walk {
public:
    __device__ Walk(const Bench& bench, unsigned start, bool far) : bench_(bench), start_(start), far_(far) {}

    // So that nothing is dirty, and whatever the set holds was there before.
    __device__ void read_all() const {
        const LineList& near_lines = bench_.shared.found.near_lines;
        const LineList& far_lines = bench_.shared.found.far_lines;
        for (unsigned i = threadIdx.x; i < near_lines.count; i += kWarp)
            read_line(bench_, near_lines.lines[i]);
        for (unsigned i = threadIdx.x; i < far_lines.count; i += kWarp) read_line(bench_, far_lines.lines[i]);
        __syncwarp();
    }
    // Written lines come from the one list or the other, those that are read are near.
    __device__ Line written(unsigned i) const {
        const LineList& far_lines = bench_.shared.found.far_lines;
        return far_ ? far_lines.lines[(start_ + i) % far_lines.count] : near_at(i);
    }
    __device__ Line read(unsigned i) const { return near_at(kMostWritten + i); }

    __device__ void read_one(Line line) const {
        if (threadIdx.x == 0) read_line(bench_, line);
        __syncwarp();
    }
    __device__ void write_one(Line line) const {
        constexpr unsigned kLanes = (1u << kLineBits) / sizeof(uint4);
        char* const at = bench_.buffer + (std::size_t{line} << kLineBits);
        if (threadIdx.x < kLanes) reinterpret_cast<uint4*>(at)[threadIdx.x] = uint4{};
        __threadfence();
        __syncwarp();
    }
    __device__ bool is_lost(Line line) const {
        bool lost = false;
        if (threadIdx.x == 0) lost = takes_long(bench_, line);
        return __shfl_sync(~0u, lost, 0);
    }

private:
    // Not of those that found the set.
    __device__ Line near_at(unsigned i) const {
        return bench_.shared.found.near_lines.lines[(start_ + i) % bench_.shared.near_others];
    }

    const Bench& bench_;
    unsigned start_;
    bool far_;
};

__device__ bool is_lost_after(const Bench& bench, const Case& what, unsigned count, unsigned start) {
    const Walk walk(bench, start, what.far);
    const unsigned others = bench.shared.found.ways - what.written;
    walk.read_all();
    for (unsigned i = 0; i < what.written; ++i) walk.write_one(walk.written(i));
    for (unsigned i = 0; i < others; ++i) walk.read_one(walk.read(i));
    if (what.again == Again::ReadYoungest) walk.read_one(walk.read(others - 1));
    if (what.again == Again::WriteYoungest) walk.write_one(walk.read(others - 1));
    if (what.again == Again::ReadOldest) walk.read_one(walk.written(0));
    for (unsigned i = 0; i < count; ++i) walk.read_one(walk.read(others + i));
    return walk.is_lost(walk.written(what.asked - 1));
}

__device__ int lost_after(const Bench& bench, const Case& what) {
    for (unsigned count = 0; count <= kMostRead; ++count) {
        int lost = 0;
        for (unsigned i = 0; i < kTries; ++i) lost += is_lost_after(bench, what, count, i * kApart);
        if (2 * lost > kTries) return static_cast<int>(count);
    }
    return kMostRead + 1;
}

__global__ void probe_set(char* buffer, Sides sides, unsigned place, const Case* cases, unsigned count,
                          Found* result) {
    __shared__ Shared shared;
    const Bench bench{buffer, sides, shared};
    const bool complete = find_lines_of_set(bench, place);
    __syncthreads();
    if (threadIdx.x >= kWarp) return;
    for (unsigned i = 0; complete && i < count; ++i) {
        const int lost = lost_after(bench, cases[i]);
        if (threadIdx.x == 0) result->lost_after[i] = lost;
    }
    if (threadIdx.x != 0) return;
    shared.found.complete = complete;
    result->set = shared.found;
}

std::vector<Case> all_cases() {
    std::vector<Case> cases;
    const auto ask_each = [&](bool far, unsigned written, Again again) {
        for (unsigned asked = 1; asked <= written; ++asked) cases.push_back({far, written, again, asked});
    };
    for (const unsigned written : {1u, 4u, 7u, 8u, 10u}) {
        ask_each(false, written, Again::None);
        ask_each(false, written, Again::ReadYoungest);
    }
    for (const unsigned written : {1u, 4u}) {
        ask_each(false, written, Again::WriteYoungest);
        ask_each(false, written, Again::ReadOldest);
        ask_each(true, written, Again::None);
    }
    return cases;
}

void record(int lines) {
    const std::vector<Case> cases = all_cases();
    const DeviceBuffer<Case> on_gpu{std::span<const Case>(cases)};
    std::vector<std::vector<int>> lost_after(cases.size());
    const auto probe = [&](char* buffer, const Sides& sides, unsigned place) {
        const DeviceBuffer<Found> result(1);
        probe_set<<<1, kThreads>>>(buffer, sides, place, on_gpu.get(), static_cast<unsigned>(cases.size()),
                                   result.get());
        check_launch("probing a set");
        return result.to_host().front();
    };
    probe_sets(lines, probe, [&](const Found& found) {
        for (std::size_t i = 0; i < cases.size(); ++i) lost_after[i].push_back(found.lost_after[i]);
    });
    std::printf("lines,written,again,asked,sets,lost_after_least,lost_after_most\n");
    for (std::size_t i = 0; i < cases.size(); ++i) {
        const auto& [far, written, again, asked] = cases[i];
        const auto [least, most] = std::ranges::minmax_element(lost_after[i]);
        if (lost_after[i].empty()) continue;
        std::printf("%s,%u,%s,%u,%zu,%d,%d\n", far ? "far" : "near", written, kAgain[static_cast<int>(again)],
                    asked, lost_after[i].size(), *least, *most);
    }
}

}  // namespace

int main(int count, char** words) {
    try {
        record(lines_in(count, words, 40));
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
