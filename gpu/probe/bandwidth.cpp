// SPDX-License-Identifier: Apache-2.0
// What comes through: into an SM, into a GPC, out of the slices, over the fabric, from DRAM.
#include <algorithm>

#include "gpu/probe/bench.hpp"

namespace l2lens::gpu {
namespace {

// Fits a partition twice over: a line may be there at home or as a copy.
std::int64_t resident_chunks(const ProbeBench& bench) {
    return bench.properties().l2CacheSize * 2 / 5 / kChunkBytes / 8 * 8;
}

struct Traffic {
    std::vector<int> sms;
    Access access;
    int passes;
};

// Traffic over lines that are already where they are read.
Counters over_resident_lines(ProbeBench& bench, const Traffic& traffic) {
    const std::int64_t chunks = resident_chunks(bench);
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
    constexpr int kPasses = 8;
    const auto bytes = static_cast<double>(resident_chunks(bench) * kChunkBytes);
    const Counters one = over_resident_lines(bench, {{0}, access, kPasses});
    bench.found("bandwidth.sm", bytes * kPasses / 128 / one.at("sm__cycles_active.max"),
                "one SM reading lines that hit, 32 KiB a copy");
    if (bench.gpcs.empty()) return bench.missing("bandwidth.gpc: needs the GPCs");
    const auto& gpc = *std::max_element(bench.gpcs.begin(), bench.gpcs.end(),
                                        [](const auto& a, const auto& b) { return a.size() < b.size(); });
    const Counters c = over_resident_lines(bench, {gpc, access, kPasses * 4});
    bench.found(
        "bandwidth.gpc", decimal(bytes * kPasses * 4 / c.at("gpu__time_duration.sum"), 0),
        "the " + std::to_string(gpc.size()) + " SMs of one GPC reading lines that hit, no two the same");
}

void out_of_slices(ProbeBench& bench, Access access) {
    constexpr int kPasses = 40;
    auto per_cycle = [&](Access how, const char* what) {
        const Counters c = over_resident_lines(bench, {everyone(bench), how, kPasses});
        return c.at(what) / c.at("lts__cycles_elapsed.sum");
    };
    bench.found(
        "bandwidth.output",
        std::max(per_cycle(access, "lts__t_sectors.sum"), per_cycle(Access::Load, "lts__t_sectors.sum")),
        "all SMs reading lines that hit, no two the same, by loads or by the copy engine; what merging "
        "and the fabric add to it is not seen here");
    bench.found("bandwidth.tag", per_cycle(Access::WordPerLine, "lts__t_requests.sum"),
                "the most that all SMs together asked for (4 B of each line, lines that hit); the slices may "
                "take more");
    bench.found("bandwidth.write", per_cycle(Access::Store, "lts__t_requests.sum"),
                "all SMs writing whole lines over and over, requests in both partitions");
}

// One partition's SMs sweep over more than their partition holds and less than both do. Every lookup misses
// at first hand; lines at home here come from DRAM, which is fast enough, those at home there are found
// there: the fabric is the limit.
void over_the_fabric(ProbeBench& bench) {
    if (bench.partitions() == 1) return;
    constexpr int kPasses = 10;
    const std::int64_t chunks = bench.properties().l2CacheSize * 2 / 3 / kChunkBytes / 8 * 8;
    const DeviceRoles askers(Roles::of(bench.sms_of_partition(0), bench.sms()));
    auto sweep =
        [&](int passes) {  // a launch a pass, so that nobody runs ahead and meets what is still there
            for (int i = 0; i < passes; ++i) visit_chunks(bench.buffer(), chunks, askers, Access::Load, 1);
        };
    const Counters c = bench.count([&] { sweep(kPasses); }, [&] { sweep(3); });
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
                "all SMs reading 1 GiB once");
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
