// SPDX-License-Identifier: Apache-2.0
// Which lines share a set of the L2, as one SM sees it: its side of the L2 is "ours". A line is near when its
// home is ours, far when its home is the other side, which leaves a copy in ours. The threads of one CTA read
// lines, then one of them times the probed line, which is near: slow means that it was lost.
// * A random list of near lines that loses it is reduced, group by group, to a set no line of which can be
//   left out: as many lines as the set has ways;
// * with that set less one line, bisection finds every line of the first 256 MiB that takes the probed
//   line's place: one more of the same set.
// First the list has 420000 near lines. Where these do not lose the probed line, or are not reduced, it has
// all near lines.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/probe/parity.hpp"

namespace l2lens::gpu::set_probe {

using Line = std::uint32_t;  // 128 B, counted from the buffer's start

// Of a large buffer the driver makes one contiguous stretch of memory, as a rule. Its first pages are used.
constexpr std::size_t kBufferBytes = std::size_t{8} << 30;
constexpr unsigned kLineBits = 7;
constexpr unsigned kPages = 128;  // of 2 MiB
constexpr unsigned kLinesInPage = 1 << 14;
constexpr unsigned kNearBits = 20;  // half of the pages' lines are near, half are far
constexpr unsigned kNearLines = 1 << kNearBits;

// Which side a line's home is, within a page: the parity of these address bits (hash.home_masks of
// `l2lens gpu probe`).
constexpr Line kHomeMaskOfH200 = 0x0AB000 >> kLineBits;
constexpr Line kHomeMaskOfH100 = 0x0B3000 >> kLineBits;
constexpr Line kFreeBit = 1 << 5;  // of both: set so that the parity comes out as wanted
constexpr int kLargestL2OfH100 = 50 << 20;

constexpr int kThreads = 1024;
// Most near hits of an H200 take 142 to 181 ns, 99 % of near lines from DRAM 273 or more
// (traces/h200/delays.csv): 360 and 540 cycles.
constexpr unsigned kLostCycles = 420;
constexpr std::uint32_t kNoValue = 0x9e3779b9;  // the buffer is zero

constexpr unsigned kFirstList = 420000;  // near lines: some 27 for each set of 16 ways, and faster than all
constexpr unsigned kGroups = 64;         // that a list is divided into
constexpr unsigned kMostGroups = 160;
constexpr int kMostPasses = 60;
constexpr int kTests = 3;           // that must all agree that the probed line is lost
constexpr unsigned kBlock = 2048;   // lines that bisection begins with
constexpr unsigned kMostWays = 48;  // more are a list that was not reduced
constexpr unsigned kMostLines = 512;
// Bit p: the lines of page p whose home bits have odd parity are near, those of even parity far.
struct Sides {
    Line home_mask;
    std::uint32_t odd_is_near[kPages / 32];
};

// Lines of an order of all near (or far) lines that is random but fixed.
struct Range {
    unsigned first, count;
};

struct LineList {
    unsigned count;  // can exceed kMostLines: those beyond are not kept
    Line lines[kMostLines];
};

// A set, as far as it was found.
struct SetLines {
    bool complete;
    unsigned sm;
    Line probed;
    unsigned ways;
    LineList near_lines, far_lines;
};

// What the threads of the CTA share.
struct Shared {
    bool lost;
    unsigned groups;
    Range group[kMostGroups];
    Line set[kMostWays];   // of found.ways lines
    unsigned near_others;  // the first of the near lines, those that were not in use to find them
    SetLines found;
};

struct Bench {
    char* buffer;
    Sides sides;
    Shared& shared;
};

__device__ inline unsigned this_sm() {
    unsigned sm;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(sm));
    return sm;
}

// A permutation of the numbers below kNearLines: every step can be undone.
__device__ inline unsigned shuffled(unsigned x) {
    constexpr unsigned kMask = kNearLines - 1;
    x = (x * 0x9E3779B1u) & kMask;
    x ^= x >> 9;
    x = (x * 0x85EBCA6Bu) & kMask;
    x ^= x >> 11;
    x = (x * 0xC2B2AE35u) & kMask;
    return x ^ x >> 10;
}

// The near (or far) line at this place of the random order.
__device__ inline Line line_at(const Sides& sides, unsigned place, bool far) {
    constexpr unsigned kNearInPage = kLinesInPage / 2;
    const unsigned number = shuffled(place);
    const unsigned page = number / kNearInPage, rest = number % kNearInPage;
    const bool odd = ((sides.odd_is_near[page / 32] >> page % 32 & 1) != 0) != far;
    Line in_page = rest % kFreeBit + rest / kFreeBit * (2 * kFreeBit);
    if ((__popc(in_page & sides.home_mask) % 2 != 0) != odd) in_page += kFreeBit;
    return page * kLinesInPage + in_page;
}

// From the L2: the L1 keeps nothing of it.
__device__ inline std::uint32_t load(const Bench& bench, Line line) {
    const char* const at = bench.buffer + (std::size_t{line} << kLineBits);
    std::uint32_t value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

__device__ inline void wait_for(std::uint32_t value) {
    if (value == kNoValue) __trap();
}

__device__ inline void read_line(const Bench& bench, Line line) {
    wait_for(load(bench, line));
}

// All threads together. Not the probed line, which would come back.
__device__ inline void read_range(const Bench& bench, Range range, bool far) {
    constexpr unsigned kInFlight = 4;
    const Line probed = bench.shared.found.probed;
    for (unsigned i = threadIdx.x; i < range.count; i += kInFlight * kThreads) {
        std::uint32_t values[kInFlight] = {};
#pragma unroll
        for (unsigned j = 0; j < kInFlight; ++j) {
            if (i + j * kThreads >= range.count) continue;
            const Line line = line_at(bench.sides, range.first + i + j * kThreads, far);
            if (line != probed) values[j] = load(bench, line);
        }
#pragma unroll
        for (unsigned j = 0; j < kInFlight; ++j) wait_for(values[j]);
    }
}

__device__ inline void read_probed(const Bench& bench) {
    __syncthreads();
    if (threadIdx.x == 0) read_line(bench, bench.shared.found.probed);
    __syncthreads();
}

// One thread.
__device__ inline bool takes_long(const Bench& bench, Line line) {
    read_line(bench, line ^ 1);  // so that the page's translation is at hand
    const long long begin = clock64();
    read_line(bench, line);
    return clock64() - begin > kLostCycles;
}

__device__ inline bool probed_is_lost(const Bench& bench) {
    Shared& shared = bench.shared;
    __syncthreads();
    if (threadIdx.x == 0) {
        shared.lost = takes_long(bench, shared.found.probed);
    }
    __syncthreads();
    const bool lost = shared.lost;
    __syncthreads();  // the next test writes it
    return lost;
}

// Do all groups but this one, if there is such, lose the probed line?
__device__ inline bool groups_lose_it_without(const Bench& bench, unsigned left_out) {
    const Shared& shared = bench.shared;
    for (int test = 0; test < kTests; ++test) {
        read_probed(bench);
        for (unsigned g = 0; g < shared.groups; ++g)
            if (g != left_out) read_range(bench, shared.group[g], false);
        if (!probed_is_lost(bench)) return false;
    }
    return true;
}

// Those without which the probed line is lost all the same. Were there any?
__device__ inline bool drop_groups(const Bench& bench) {
    Shared& shared = bench.shared;
    const unsigned before = shared.groups;
    for (unsigned g = 0; g < shared.groups;) {
        if (!groups_lose_it_without(bench, g)) {
            ++g;
            continue;
        }
        if (threadIdx.x == 0) shared.group[g] = shared.group[--shared.groups];
        __syncthreads();
    }
    return shared.groups < before;
}

__device__ inline Range part_of(Range whole, unsigned part, unsigned parts) {
    const auto cut = [&](unsigned i) {
        return static_cast<unsigned>(std::uint64_t{whole.count} * i / parts);
    };
    return {whole.first + cut(part), cut(part + 1) - cut(part)};
}

// Each into as many as make kGroups of all, at least two. False when there are too many of them.
__device__ inline bool split_groups(Shared& shared) {
    const unsigned before = shared.groups;
    const unsigned parts = max(2u, kGroups / max(before, 1u));
    __syncthreads();
    if (before * parts > kMostGroups) return false;
    if (threadIdx.x == 0) {
        for (unsigned g = 0; g < before; ++g) {
            const Range whole = shared.group[g];
            const unsigned pieces = min(parts, whole.count);
            shared.group[g] = part_of(whole, 0, pieces);
            for (unsigned i = 1; i < pieces; ++i) shared.group[shared.groups++] = part_of(whole, i, pieces);
        }
    }
    __syncthreads();
    return true;
}

__device__ inline bool are_single_lines(const Shared& shared) {
    for (unsigned g = 0; g < shared.groups; ++g)
        if (shared.group[g].count > 1) return false;
    return true;
}

// Reduces the first `count` near lines of the random order to groups of one line, none of which can be
// dropped.
__device__ inline bool reduce(const Bench& bench, unsigned count) {
    Shared& shared = bench.shared;
    __syncthreads();
    if (threadIdx.x == 0) {
        shared.groups = kGroups;
        for (unsigned g = 0; g < kGroups; ++g) shared.group[g] = part_of({0, count}, g, kGroups);
    }
    __syncthreads();
    if (!groups_lose_it_without(bench, kMostGroups)) return false;
    for (int pass = 0; pass < kMostPasses; ++pass) {
        const bool dropped = drop_groups(bench);
        if (!are_single_lines(shared)) {
            if (!split_groups(shared)) return false;
        } else if (!dropped) {
            return shared.groups > 0 && shared.groups <= kMostWays;
        }
    }
    return false;
}

__device__ inline bool find_set(const Bench& bench) {
    if (!reduce(bench, kFirstList) && !reduce(bench, kNearLines)) return false;
    Shared& shared = bench.shared;
    if (threadIdx.x == 0) {
        shared.found.ways = shared.groups;
        for (unsigned g = 0; g < shared.groups; ++g)
            shared.set[g] = line_at(bench.sides, shared.group[g].first, false);
    }
    __syncthreads();
    return true;
}

// Is the probed line lost after its set less the last line, and these?
__device__ inline bool take_its_place(const Bench& bench, Range lines, bool far) {
    const Shared& shared = bench.shared;
    read_probed(bench);
    if (threadIdx.x + 1 < shared.found.ways) read_line(bench, shared.set[threadIdx.x]);
    __syncthreads();
    read_range(bench, lines, far);
    return probed_is_lost(bench);
}

__device__ inline bool takes_its_place(const Bench& bench, unsigned place, bool far) {
    for (int test = 0; test < kTests; ++test)
        if (!take_its_place(bench, {place, 1}, far)) return false;
    return true;
}

// The largest block that begins there, of those which halving blocks makes.
__device__ inline unsigned block_at(unsigned place) {
    unsigned size = kBlock;
    while (place % size != 0) size /= 2;
    return size;
}

__device__ inline void add(LineList& list, Line line) {
    if (list.count < kMostLines) list.lines[list.count] = line;
    ++list.count;
}

// By bisection: halves a block until none of it takes the probed line's place, or it is a line that does, and
// goes on behind it.
__device__ inline void find_lines(const Bench& bench, bool far, LineList& list) {
    if (threadIdx.x == 0) list.count = 0;
    unsigned place = 0;
    unsigned size = kBlock;
    while (place < kNearLines) {
        const bool some = take_its_place(bench, {place, size}, far);
        if (some && size > 1) {
            size /= 2;
            continue;
        }
        if (some && takes_its_place(bench, place, far) && threadIdx.x == 0)
            add(list, line_at(bench.sides, place, far));
        place += size;
        size = block_at(place);
    }
    __syncthreads();
}

// The lines in use to find the others belong to the set as well, but were never found: they come last.
__device__ inline void add_lines_of_set(Shared& shared) {
    if (threadIdx.x == 0) {
        shared.near_others = shared.found.near_lines.count;
        for (unsigned i = 0; i + 1 < shared.found.ways; ++i) add(shared.found.near_lines, shared.set[i]);
    }
    __syncthreads();
}

// False when there is nothing to say about the probed line, the near one at `place`.
__device__ inline bool find_lines_of_set(const Bench& bench, unsigned place) {
    Shared& shared = bench.shared;
    if (threadIdx.x == 0) {
        shared.found.sm = this_sm();
        shared.found.probed = line_at(bench.sides, place, false);
    }
    __syncthreads();
    if (!find_set(bench)) return false;
    find_lines(bench, false, shared.found.near_lines);
    find_lines(bench, true, shared.found.far_lines);
    add_lines_of_set(shared);
    return shared.found.near_lines.count <= kMostLines && shared.found.far_lines.count <= kMostLines;
}

// Atomics are done at a line's home: they take longer when that is far. The least of a few tries.
static __global__ void time_atomics(char* buffer, const Line* lines, int count, unsigned* cycles,
                                    unsigned* sm) {
    constexpr int kAtomics = 12;
    if (threadIdx.x != 0) return;
    *sm = this_sm();
    for (int i = 0; i < count; ++i) {
        auto* const at = reinterpret_cast<unsigned*>(buffer + (std::size_t{lines[i]} << kLineBits));
        unsigned least = ~0u;
        for (int j = 0; j < kAtomics; ++j) {
            const long long begin = clock64();
            wait_for(atomicAdd(at, 0u));
            least = min(least, static_cast<unsigned>(clock64() - begin));
        }
        cycles[i] = least;
    }
}

constexpr unsigned kLinesTimed = 8;  // of each page

// Of each page, all with even home bits.
inline std::vector<Line> even_lines(Line home_mask) {
    std::vector<Line> lines;
    for (unsigned page = 0; page < kPages; ++page) {
        for (unsigned i = 0; i < kLinesTimed; ++i) {
            const Line in_page = (i * 1001 + 5) % kLinesInPage & ~kFreeBit;
            lines.push_back(page * kLinesInPage + in_page +
                            (std::popcount(in_page & home_mask) % 2 != 0 ? kFreeBit : 0));
        }
    }
    return lines;
}

struct Homes {
    Sides sides;
    unsigned sm;  // that sees them so
};

inline Line home_mask_of_device() {
    int l2_bytes = 0;
    check_cuda(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0), "asking for the size of the L2");
    return l2_bytes > kLargestL2OfH100 ? kHomeMaskOfH200 : kHomeMaskOfH100;
}

inline Homes find_homes(const DeviceBuffer<char>& buffer) {
    const Line home_mask = home_mask_of_device();
    const std::vector<Line> lines = even_lines(home_mask);
    const DeviceBuffer<Line> on_gpu{std::span<const Line>(lines)};
    const DeviceBuffer<unsigned> all_cycles(lines.size()), sm(1);
    time_atomics<<<1, kThreads>>>(buffer.get(), on_gpu.get(), static_cast<int>(lines.size()),
                                  all_cycles.get(), sm.get());
    check_launch("timing atomics");
    std::vector<double> of_page(kPages);
    const std::vector<unsigned> cycles = all_cycles.to_host();
    for (std::size_t i = 0; i < cycles.size(); ++i) of_page[i / kLinesTimed] += cycles[i];
    const TwoLevels levels = split_levels(of_page);
    if (!levels.distinct) throw Unavailable("this GPU's L2 has no other side");
    Homes homes{{home_mask, {}}, sm.to_host().front()};
    for (unsigned page = 0; page < kPages; ++page)
        if (of_page[page] > levels.threshold) homes.sides.odd_is_near[page / 32] |= 1u << page % 32;
    return homes;
}

// Calls probe(sides, place), which returns what was found beside SetLines, for lines at random.
template <class Probe, class Tell>
void probe_sets(int lines, Probe&& probe, Tell&& tell) {
    DeviceBuffer<char> buffer(kBufferBytes);
    buffer.fill_bytes(0);
    const Homes homes = find_homes(buffer);
    constexpr unsigned kSeed = 1;
    std::mt19937 random(kSeed);
    int skipped = 0;
    for (int i = 0; i < lines; ++i) {
        const auto found = probe(buffer.get(), homes.sides, static_cast<unsigned>(random() % kNearLines));
        if (found.set.sm != homes.sm)
            throw Error(ExitCode::Internal, "SM " + std::to_string(found.set.sm) +
                                                " probed a set, but homes are as SM " +
                                                std::to_string(homes.sm) + " sees them");
        if (found.set.complete)
            tell(found);
        else
            ++skipped;
    }
    std::fprintf(stderr, "no set was found for %d of %d lines\n", skipped, lines);
}

inline int lines_in(int count, char** words, int otherwise) {
    if (count > 2) throw BadInput(std::string(words[0]) + " takes one word, the number of lines to probe");
    if (count < 2) return otherwise;
    const std::string_view word = words[1];
    int lines = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), lines);
    if (error != std::errc() || end != word.data() + word.size() || lines < 1)
        throw BadInput(std::string(words[0]) + " takes the number of lines to probe, not '" +
                       std::string(word) + "'");
    return lines;
}

}  // namespace l2lens::gpu::set_probe
