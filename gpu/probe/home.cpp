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

std::string bits_text(std::uint64_t mask) {
    std::string text = "[";
    for (; mask != 0; mask &= mask - 1)
        text += (text.size() > 1 ? ", " : "") + std::to_string(std::countr_zero(mask));
    return text + "]";
}

// As much zeroed memory as the GPU gives, up to seven eighths of what is free: the driver then hands out one
// contiguous stretch, as a rule.
DeviceBuffer<char> most_memory() {
    std::size_t free = 0;
    std::size_t total = 0;
    check_cuda(cudaMemGetInfo(&free, &total), "asking for the free memory");
    for (std::size_t pages = free / kPage * 7 / 8; pages > kPages; pages /= 2) {
        try {
            DeviceBuffer<char> memory(pages * kPage);
            memory.fill_bytes(0);
            return memory;
        } catch (const Unavailable&) {
            cudaGetLastError();  // somebody else has it: ask for less
        }
    }
    return {};
}

// Each 2 MiB page's side, once the bits below 21 are accounted for: by most of a few lines.
std::vector<bool> sides_of_pages(char* memory, std::size_t pages, const ParityRule& low, double threshold,
                                 const Roles& one) {
    constexpr std::size_t kLines = 3;
    std::vector<std::uint64_t> offsets;
    for (std::size_t page = 0; page < pages; ++page)
        for (const std::uint64_t offset : random_lines(page * kPage, kPage, kLines, page + 1))
            offsets.push_back(offset);
    const auto cycles = atomic_cycles(memory, offsets, one);
    std::vector<bool> sides;
    for (std::size_t page = 0; page < pages; ++page) {
        std::size_t far = 0;
        for (std::size_t i = page * kLines; i < (page + 1) * kLines; ++i)
            far += (cycles[i] > threshold) != low(offsets[i] % kPage);
        sides.push_back(far * 2 > kLines);
    }
    return sides;
}

// Bits 21 and up: physical addresses are not visible, but each page's constant is, and the pages of a large
// allocation are neighbours in memory.
std::uint64_t high_bits(ProbeBench& bench, const ParityRule& low, double threshold) {
    bench.kept = most_memory();
    const DeviceBuffer<char>& memory = bench.kept;
    const std::size_t pages = memory.size() / kPage;
    if (pages == 0) return 0;
    const auto sides = sides_of_pages(memory.get(), pages, low, threshold, Roles::of({0}, bench.sms()));
    // What the driver keeps for itself lies in the same address space.
    const std::size_t pages_of_memory = bench.properties().totalGlobalMem / kPage * 65 / 64;
    const auto rule = solve_pages(sides, pages_of_memory);
    if (!rule) {
        bench.missing("hash.home_masks above bit 20: neighbouring pages follow no parity");
        return 0;
    }
    bench.note("home hash: bits 21 and up from the constants of " + std::to_string(rule->pages) +
               " neighbouring pages of 2 MiB, all of them followed");
    if (rule->unclear != 0)
        bench.missing("hash.home_masks: whether bits " + bits_text(rule->unclear * kPage) + " belong to it");
    return rule->mask * kPage;
}

void probe_mask(ProbeBench& bench, double threshold) {
    const auto offsets = random_lines(0, kPage, 400, 99);
    const auto samples = sides(offsets, steady_atomic_cycles(bench, offsets, 0), threshold);
    const auto low = solve_parity(samples, kPage - 128);
    if (!low)
        return bench.missing("hash.home_masks: near and far addresses follow no parity of bits 7 to 20");
    const std::uint64_t high = high_bits(bench, *low, threshold);
    bench.note("home hash: bits below 21 explain " + decimal(low->agreement * 100, 1) +
               " % of 400 addresses of a page");
    bench.found("hash.home_masks", "[" + bits_text(low->mask | high) + "]",
                "near and far atomics, solved over GF(2)");
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

void probe_sides(ProbeBench& bench) {
    probe_limits(bench);
    probe_topology(bench);
    probe_home(bench);
    if (bench.partitions() < 2) throw Unavailable("this GPU's L2 has no other side");
}

}  // namespace l2lens::gpu
