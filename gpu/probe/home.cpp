// SPDX-License-Identifier: Apache-2.0
// Where an address is at home: atomics are resolved there, so they take longer for one half of the addresses.
// Their pattern over addresses is a parity of bits, over SMs it tells the partitions.
#include <algorithm>
#include <bit>
#include <random>

#include "gpu/counters/statistics.hpp"
#include "gpu/probe/bench.hpp"

namespace l2lens::gpu {
namespace {

constexpr std::uint64_t kPage = 2 << 20;  // virtual and physical addresses agree below bit 21
constexpr int kPages = 32;

// The median of three, against a refresh or a clock change in between.
std::vector<double> steady_atomic_cycles(ProbeBench& bench, const std::vector<std::uint64_t>& offsets,
                                         int sm) {
    const Roles roles = Roles::of({sm}, bench.sms());
    std::vector<std::vector<double>> runs;
    for (int i = 0; i < 3; ++i) runs.push_back(atomic_cycles(bench.buffer(), offsets, roles));
    std::vector<double> cycles;
    for (std::size_t i = 0; i < offsets.size(); ++i)
        cycles.push_back(median({runs[0][i], runs[1][i], runs[2][i]}));
    return cycles;
}

Sided sides(const std::vector<std::uint64_t>& offsets, const std::vector<double>& cycles, double threshold) {
    Sided result;
    for (std::size_t i = 0; i < offsets.size(); ++i) result.emplace_back(offsets[i], cycles[i] > threshold);
    return result;
}

std::vector<std::uint64_t> random_lines(std::uint64_t base, std::uint64_t size, int count,
                                        std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::uint64_t> offsets;
    for (int i = 0; i < count; ++i) offsets.push_back(base + random() % (size / 128) * 128);
    return offsets;
}

// Bits 21 and up: physical addresses are not visible, but each page's constant is, and neighbouring pages of
// one allocation are usually neighbours in memory.
std::uint64_t high_bits(ProbeBench& bench, const ParityRule& low, double threshold) {
    Sided pages;
    for (std::uint64_t page = 0; page < kPages; ++page) {
        const auto offsets = random_lines(page * kPage, kPage, 15, page + 1);
        int far = 0;
        for (const auto& [offset, side] : sides(offsets, steady_atomic_cycles(bench, offsets, 0), threshold))
            far += side != low(offset);
        pages.emplace_back(page * kPage, far > 7);
    }
    // The allocation begins at an unknown page of a 64 MiB block: carries from it decide which bits change.
    for (std::uint64_t shift = 0; shift < kPages; ++shift) {
        Sided shifted;
        for (const auto& [offset, side] : pages) shifted.emplace_back(offset + shift * kPage, side);
        if (const auto rule = solve_parity(shifted, (2 * kPages - 1) * kPage, 1.0)) return rule->mask;
    }
    return 0;
}

std::string bits_text(std::uint64_t mask) {
    std::string text = "[[";
    for (; mask != 0; mask &= mask - 1)
        text += (text.size() > 2 ? ", " : "") + std::to_string(std::countr_zero(mask));
    return text + "]]";
}

void probe_mask(ProbeBench& bench, double threshold) {
    const auto offsets = random_lines(0, kPage, 400, 99);
    const auto samples = sides(offsets, steady_atomic_cycles(bench, offsets, 0), threshold);
    const auto low = solve_parity(samples, kPage - 128);
    if (!low)
        return bench.missing("hash.home_masks: near and far addresses follow no parity of bits 7 to 20");
    const std::uint64_t high = high_bits(bench, *low, threshold);
    bench.note("home hash: bits below 21 explain " + decimal(low->agreement * 100, 1) +
               " % of 400 addresses of a page" +
               (high ? "; bits 21 and up from the constants of 32 neighbouring pages" : ""));
    if (!high)
        bench.missing("hash.home_masks above bit 20: neighbouring pages follow no parity of bits 21 to 25");
    bench.found("hash.home_masks", bits_text(low->mask | high), "near and far atomics, solved over GF(2)");
}

void probe_partitions(ProbeBench& bench, const std::vector<std::uint64_t>& offsets, const Sided& pattern) {
    bench.partition_of_sm.assign(static_cast<std::size_t>(bench.sms()), 0);
    for (int sm = 1; sm < bench.sms(); ++sm) {
        const auto cycles = atomic_cycles(bench.buffer(), offsets, Roles::of({sm}, bench.sms()));
        double far = 0;
        double near = 0;
        int far_count = 0;
        for (std::size_t i = 0; i < cycles.size(); ++i) {
            (pattern[i].second ? far : near) += cycles[i];
            far_count += pattern[i].second;
        }
        const int near_count = static_cast<int>(cycles.size()) - far_count;
        bench.partition_of_sm[static_cast<std::size_t>(sm)] = far / far_count < near / near_count ? 1 : 0;
    }
}

// A partition per GPC, by the majority of its SMs.
void report_partitions(ProbeBench& bench) {
    bench.found("topology.partitions", "2", "atomics: two levels of latency");
    if (bench.gpcs.empty()) return;
    std::string text = "[";
    int split = 0;
    for (const auto& gpc : bench.gpcs) {
        int ones = 0;
        for (const int sm : gpc) ones += bench.partition_of_sm[static_cast<std::size_t>(sm)];
        split += ones != 0 && ones != static_cast<int>(gpc.size());
        text +=
            (text.size() > 1 ? ", " : "") + std::to_string(ones * 2 > static_cast<int>(gpc.size()) ? 1 : 0);
    }
    bench.found("topology.partition_of_gpc", text + "]", "near and far atomics of each SM");
    bench.note(split == 0 ? "all SMs of each GPC agree on their partition"
                          : std::to_string(split) + " GPCs whose SMs disagree on their partition");
}

// Every 4 KiB of the first 64 MiB, for traffic that must be far or near.
void map_chunks(ProbeBench& bench, double threshold) {
    std::vector<std::uint64_t> offsets;
    for (std::uint64_t chunk = 0; chunk < kPages * kPage / kChunkBytes; ++chunk)
        offsets.push_back(chunk * kChunkBytes);
    for (const double cycles : steady_atomic_cycles(bench, offsets, 0))
        bench.far_from_sm0.push_back(cycles > threshold);
}

}  // namespace

void probe_home(ProbeBench& bench) {
    const auto offsets = random_lines(0, kPage, 64, 7);
    const auto cycles = steady_atomic_cycles(bench, offsets, 0);
    const TwoLevels levels = split_levels(cycles);
    if (!levels.distinct) {
        bench.found("topology.partitions", "1",
                    "atomics: one level of latency, " + decimal(levels.low, 0) + " cycles");
        bench.found("hash.home_masks", "[]", "one partition");
        return;
    }
    bench.note("atomics take " + decimal(levels.low, 0) + " cycles near and " + decimal(levels.high, 0) +
               " far");
    probe_partitions(bench, offsets, sides(offsets, cycles, levels.threshold));
    report_partitions(bench);
    probe_mask(bench, levels.threshold);
    map_chunks(bench, levels.threshold);
    const double fabric_ns = (levels.high - levels.low) / bench.sm_ghz();
    const std::string source =
        "far atomics take " + decimal(levels.high - levels.low, 0) + " cycles more than near ones";
    // The way there, the way back and the extra lookup cannot be told apart: split as 5 : 45 : 40.
    bench.found("latency.tag", fabric_ns * 5 / 90, source + "; its share is assumed", Confidence::Inferred);
    bench.found("latency.fabric_request", fabric_ns * 45 / 90, source + "; its share is assumed",
                Confidence::Inferred);
    bench.found("latency.fabric_reply", fabric_ns * 40 / 90, source + "; its share is assumed",
                Confidence::Inferred);
}

}  // namespace l2lens::gpu
