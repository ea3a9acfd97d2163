// SPDX-License-Identifier: Apache-2.0
// How long a load takes: from the own partition, from DRAM, and through the copy engine.
#include <cmath>
#include <numeric>

#include "gpu/counters/statistics.hpp"
#include "gpu/probe/bench.hpp"

namespace l2lens::gpu {
namespace {

// Lines whose home is SM 0's own partition, each in another 4 KiB, whose neighbours half a 64 KiB away (what
// load_cycles() touches first) are not among them.
std::vector<std::uint64_t> near_lines(const ProbeBench& bench, std::size_t count) {
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t chunk = 0; offsets.size() < count && chunk < 16384; ++chunk) {
        const bool near = bench.far_from_sm0.empty() || !bench.far_from_sm0[chunk];
        if (near && chunk % 16 < 8) offsets.push_back(chunk * kChunkBytes);
    }
    return offsets;
}

// An exponential tail is what jitter is taken for; beyond the 99th percentile are refreshes and the GPU's own
// pauses.
std::vector<double> without_tail(std::vector<double> cycles) {
    std::sort(cycles.begin(), cycles.end());
    cycles.resize(cycles.size() * 99 / 100);
    return cycles;
}

}  // namespace

void probe_latency(ProbeBench& bench) {
    const Roles one = Roles::of({0}, bench.sms());
    const auto offsets = near_lines(bench, 1000);
    load_cycles(bench.buffer(), offsets, one);
    const double hit = median(load_cycles(bench.buffer(), offsets, one));
    bench.flush();
    const auto misses = without_tail(load_cycles(bench.buffer(), offsets, one));
    const double ghz = bench.sm_ghz();

    const double mean =
        std::accumulate(misses.begin(), misses.end(), 0.0) / static_cast<double>(misses.size());
    double squares = 0;
    for (const double cycles : misses) squares += (cycles - mean) * (cycles - mean);
    const double jitter = std::sqrt(squares / static_cast<double>(misses.size())) / ghz;
    bench.note("a load that hits takes " + decimal(hit, 0) + " cycles, one that misses " + decimal(mean, 0) +
               " (at " + decimal(ghz, 2) + " GHz)");
    bench.found("latency.dram", (mean - hit) / ghz - jitter,
                "loads of near lines that miss take " + decimal(mean - hit, 0) +
                    " cycles more than hits; less the jitter");
    bench.found("latency.dram_jitter", jitter, "standard deviation of those loads");
    bench.missing(
        "latency.hit, sm_to_slice, slice_to_sm, load_issue: only their sum is visible from an SM (a hit: " +
        decimal(hit, 0) + " cycles for a plain load)");
    bench.missing("latency.sm_spread, slice_spread: need many pairs of SMs and slices");
}

}  // namespace l2lens::gpu
