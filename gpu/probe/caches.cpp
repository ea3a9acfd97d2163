// SPDX-License-Identifier: Apache-2.0
// How many slices there are, how much they hold, and what a miss fetches.
#include <cmath>

#include "gpu/probe/bench.hpp"

namespace l2lens::gpu {
namespace {

constexpr double kMiB = 1 << 20;

void probe_slices(ProbeBench& bench) {
    constexpr std::int64_t chunks = 4096;
    const DeviceRoles everyone(Roles::all(bench.sms()));
    const Counters c = bench.count([&] { visit_chunks(bench.buffer(), chunks, everyone, Access::Load, 20); },
                                   [&] { bench.flush(); });
    bench.slices =
        static_cast<int>(std::lround(c.at("lts__cycles_elapsed.sum") / c.at("lts__cycles_elapsed.avg")));
    bench.l2_ghz = c.at("lts__cycles_elapsed.avg") / c.at("gpu__time_duration.sum");
    bench.found("l2.slices_per_partition", std::to_string(bench.slices / bench.partitions()),
                "lts__cycles_elapsed .sum / .avg = " + std::to_string(bench.slices) + " active slices");
    bench.found("clock.l2", bench.l2_ghz, "lts__cycles_elapsed.avg over gpu__time_duration.sum");
    bench.note("DRAM channels active: " +
               decimal(c.at("dram__cycles_elapsed.sum") / c.at("dram__cycles_elapsed.avg"), 0));
}

// The driver reports the whole die's L2; dies have slices in multiples of 16.
std::int64_t slice_bytes(const ProbeBench& bench) {
    const std::int64_t on_die = (bench.slices + 15) / 16 * 16;
    return bench.properties().l2CacheSize / on_die;
}

// The SMs of one partition sweep over `bytes`: share of the lookups after the first pass that miss.
double miss_share(ProbeBench& bench, std::int64_t bytes) {
    constexpr int kPasses = 4;
    const std::int64_t chunks = bytes / kChunkBytes;
    const DeviceRoles half(Roles::of(bench.sms_of_partition(0), bench.sms()));
    auto sweep = [&] {  // a launch a pass, so that nobody runs ahead
        for (int i = 0; i < kPasses; ++i) visit_chunks(bench.buffer(), chunks, half, Access::Load, 1);
    };
    const Counters c = bench.count(sweep, [&] { bench.flush(); });
    const double sectors = static_cast<double>(bytes) / 32;
    return (c.at("lts__t_sectors_srcunit_tex_lookup_miss.sum") - sectors) / (sectors * (kPasses - 1));
}

void probe_capacity(ProbeBench& bench) {
    const std::int64_t slice = slice_bytes(bench);
    const double expected = static_cast<double>(slice) * bench.slices / bench.partitions();
    double below = 0;
    double above = 0;
    for (double part = 0.75; part <= 1.45; part += 0.05) {
        const auto bytes = static_cast<std::int64_t>(expected * part) / (8 * kChunkBytes) * (8 * kChunkBytes);
        if (miss_share(bench, bytes) < 0.5) {
            below = static_cast<double>(bytes);
        } else {
            above = static_cast<double>(bytes);
            break;
        }
    }
    std::string source = "the driver's L2 size over the slices of a whole die; ";
    if (below > 0 && above > 0)
        source += "a sweep of one partition's SMs starts to miss between " + decimal(below / kMiB, 1) +
                  " and " + decimal(above / kMiB, 1) + " MiB, the slices hold " + decimal(expected / kMiB, 1);
    else
        bench.missing("l2.slice: no capacity knee within 0.75 to 1.45 of " + decimal(expected / kMiB, 1) +
                      " MiB");
    bench.found("l2.slice", std::to_string(slice / 1024), source);
    bench.missing("l2.ways: no counter shows a set");
}

void probe_fetch(ProbeBench& bench) {
    constexpr std::int64_t chunks = 8192;
    const DeviceRoles everyone(Roles::all(bench.sms()));
    const Counters c =
        bench.count([&] { visit_chunks(bench.buffer(), chunks, everyone, Access::WordPerLine, 1); },
                    [&] { bench.flush(); });
    const double lines = static_cast<double>(chunks * kChunkBytes / 128);
    const double bytes = c.at("dram__sectors_read.sum") * 32 / lines;
    const int fetch = bytes < 48 ? 32 : bytes < 96 ? 64 : 128;
    bench.found("l2.fetch", std::to_string(fetch),
                "4 B of each line of 32 MiB read " + decimal(bytes, 1) + " B a line from DRAM");
    if (bench.has_clusters())
        bench.found("l2.tensor_fetch", "128", "tensor maps are made with CU_TENSOR_MAP_L2_PROMOTION_L2_128B",
                    Confidence::Documented);
}

// Do the lines of a piece of memory go to more than one slice? Reads it over and over: one slice would take
// all sectors.
double slices_touched(ProbeBench& bench, const std::vector<std::uint64_t>& lines) {
    const Roles one = Roles::of({0}, bench.sms());
    std::vector<std::uint64_t> offsets;
    for (int i = 0; i < 1000; ++i) offsets.insert(offsets.end(), lines.begin(), lines.end());
    const Counters c = bench.count([&] { load_cycles(bench.buffer(), offsets, one); }, {});
    return c.at("lts__t_sectors_srcunit_tex.sum") / c.at("lts__t_sectors.max");
}

// Of eight places, how many have the line `gap` bytes further in another slice?
int apart(ProbeBench& bench, std::uint64_t gap) {
    int count = 0;
    for (std::uint64_t place = 0; place < 8; ++place) {
        const std::uint64_t line = place * 73 * 4096;
        // load_cycles() touches each page's other half first, so one line alone already counts in two slices
        // (or one).
        count += slices_touched(bench, {line, line + gap}) > 1.4 * slices_touched(bench, {line});
    }
    return count;
}

void probe_interleave(ProbeBench& bench) {
    std::string seen;
    for (const std::uint64_t bytes : {128u, 256u, 512u, 1024u, 2048u}) {
        const int count = apart(bench, bytes);
        seen +=
            (seen.empty() ? "" : ", ") + std::to_string(count) + " of 8 at " + std::to_string(bytes) + " B";
        if (count < 4) continue;
        return bench.found("hash.interleave", std::to_string(bytes),
                           "pairs of lines counted in different slices: " + seen);
    }
    bench.missing("hash.interleave: pairs of lines counted in different slices: " + seen);
}

}  // namespace

void probe_caches(ProbeBench& bench) {
    probe_slices(bench);
    probe_capacity(bench);
    probe_fetch(bench);
    probe_interleave(bench);
}

}  // namespace l2lens::gpu
