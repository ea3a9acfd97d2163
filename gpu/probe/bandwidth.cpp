// SPDX-License-Identifier: Apache-2.0
// What comes through: into an SM, into a GPC, out of the slices, over the fabric, from DRAM.
#include "gpu/probe/bench.hpp"

namespace l2lens::gpu {
namespace {

constexpr std::int64_t kMiB = 1 << 20;
constexpr std::int64_t kResident = 8 * kMiB;  // fits any partition

struct Traffic {
    std::vector<int> sms;
    Access access;
    int passes;
};

// Traffic over lines that are already where they are read.
Counters over_resident_lines(ProbeBench& bench, const Traffic& traffic) {
    const std::int64_t chunks = kResident / kChunkBytes;
    const DeviceRoles roles(Roles::of(traffic.sms, bench.sms()));
    return bench.count([&] { visit_chunks(bench.buffer(), chunks, roles, traffic.access, traffic.passes); },
                       [&] { visit_chunks(bench.buffer(), chunks, roles, traffic.access, 2); });
}

std::vector<int> everyone(const ProbeBench& bench) {
    std::vector<int> sms;
    for (int sm = 0; sm < bench.sms(); ++sm) sms.push_back(sm);
    return sms;
}

void into_sms(ProbeBench& bench, Access access) {
    constexpr int kPasses = 16;
    const double bytes = static_cast<double>(kResident) * kPasses;
    const Counters one = over_resident_lines(bench, {{0}, access, kPasses});
    bench.found("bandwidth.sm", bytes / 128 / one.at("sm__cycles_active.max"),
                "one SM reading 8 MiB that hit");
    if (bench.gpcs.empty()) return bench.missing("bandwidth.gpc: needs the GPCs");
    const Counters gpc = over_resident_lines(bench, {bench.gpcs.front(), access, kPasses * 8});
    bench.found(
        "bandwidth.gpc", decimal(bytes * 8 / gpc.at("gpu__time_duration.sum"), 0),
        "the " + std::to_string(bench.gpcs.front().size()) + " SMs of one GPC reading 8 MiB that hit");
}

void out_of_slices(ProbeBench& bench, Access access) {
    auto per_cycle = [&](const Counters& c, const char* what) {
        return c.at(what) / c.at("lts__cycles_elapsed.sum");
    };
    const Counters reads = over_resident_lines(bench, {everyone(bench), access, 128});
    bench.found("bandwidth.output", per_cycle(reads, "lts__t_sectors.sum"), "all SMs reading 8 MiB that hit");
    const Counters words = over_resident_lines(bench, {everyone(bench), Access::WordPerLine, 128});
    bench.found("bandwidth.tag", per_cycle(words, "lts__t_requests.sum"),
                "all SMs reading 4 B of each line of 8 MiB");
    const Counters writes = over_resident_lines(bench, {everyone(bench), Access::Store, 64});
    bench.found("bandwidth.write", per_cycle(writes, "lts__t_requests.sum"),
                "all SMs writing 8 MiB over and over, requests in both partitions");
}

// One partition's SMs sweep over more than their partition holds and less than both do. Every lookup misses
// at first hand; lines at home here come from DRAM, which is fast enough, those at home there are found
// there: the fabric is the limit.
void over_the_fabric(ProbeBench& bench) {
    if (bench.partitions() == 1) return;
    constexpr int kPasses = 10;
    const std::int64_t chunks = bench.properties().l2CacheSize * 2 / 3 / kChunkBytes / 8 * 8;
    const DeviceRoles askers(Roles::of(bench.sms_of_partition(0), bench.sms()));
    const Counters c =
        bench.count([&] { visit_chunks(bench.buffer(), chunks, askers, Access::Load, kPasses); },
                    [&] { visit_chunks(bench.buffer(), chunks, askers, Access::Load, 3); });
    const double cycles = c.at("lts__cycles_elapsed.avg") * bench.slices / 2;
    bench.found("bandwidth.fabric", c.at("lts__t_sectors_srcunit_ltcfabric.sum") / cycles,
                "the SMs of one partition sweeping over two thirds of the whole L2");
}

void from_dram(ProbeBench& bench) {
    const std::int64_t chunks = bench.buffer_bytes() / kChunkBytes;
    const DeviceRoles roles(Roles::all(bench.sms()));
    const Counters c = bench.count([&] { visit_chunks(bench.buffer(), chunks, roles, Access::Load, 1); },
                                   [&] { bench.flush(); });
    bench.found("bandwidth.dram",
                decimal(c.at("dram__sectors_read.sum") * 32 / c.at("gpu__time_duration.sum"), 0),
                "all SMs reading 512 MiB once");
}

}  // namespace

void probe_bandwidth(ProbeBench& bench) {
    const Access access = bench.has_clusters() ? Access::BulkCopy : Access::Load;
    into_sms(bench, access);
    out_of_slices(bench, access);
    over_the_fabric(bench);
    from_dram(bench);
    bench.missing("bandwidth.issue: needs boxes of half lines");
}

}  // namespace l2lens::gpu
