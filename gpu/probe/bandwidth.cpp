// SPDX-License-Identifier: Apache-2.0
// What comes through: into an SM and a GPC, into and out of the slices, over the fabric, from DRAM.
#include <algorithm>
#include <cmath>

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

void into_an_sm(ProbeBench& bench, Access access) {
    constexpr int kPasses = 8;
    const auto bytes = static_cast<double>(resident_chunks(bench) * kChunkBytes);
    const Counters one = over_resident_lines(bench, {{0}, access, kPasses});
    bench.found("bandwidth.sm", bytes * kPasses / 128 / one.at("sm__cycles_active.max"),
                "one SM reading lines that hit, 32 KiB a copy");
}

// Whole lines and half lines together tell a port's bytes from what each answer takes beside them.
void into_a_gpc(ProbeBench& bench) {
    if (bench.gpcs.empty()) return;
    constexpr int kPasses = 32;
    const auto& gpc = *std::max_element(bench.gpcs.begin(), bench.gpcs.end(),
                                        [](const auto& a, const auto& b) { return a.size() < b.size(); });
    const auto ns_per_line = [&](Access access) {
        const Counters c = over_resident_lines(bench, {gpc, access, kPasses});
        const double lines = static_cast<double>(resident_chunks(bench) * kChunkBytes) / 128;
        return c.at("gpu__time_duration.sum") / (lines * kPasses);
    };
    const double whole = ns_per_line(Access::Load);
    const double half = ns_per_line(Access::HalfLine);
    const std::string seen = std::to_string(gpc.size()) + " SMs of a GPC read lines that hit at " +
                             decimal(128 / whole, 0) + " B/ns, half lines at " + decimal(64 / half, 0);
    const double bytes_per_ns = half < whole ? 64 / (whole - half) : 128 / whole;
    bench.found("bandwidth.gpc", std::round(bytes_per_ns), seen);
    bench.found("bandwidth.answer_overhead", std::round(std::max(whole * bytes_per_ns - 128, 0.0)), seen);
    bench.missing(
        "topology.cpcs_per_gpc, l2.queue: how a full slice shares is what l2lens_gpu_shares records");
}

void into_slices(ProbeBench& bench) {
    constexpr int kPasses = 80;
    auto requests = [&](Access how) {
        const Counters c = over_resident_lines(bench, {everyone(bench), how, kPasses});
        return c.at("lts__t_requests.sum") / c.at("lts__cycles_elapsed.sum");
    };
    bench.at_least(
        "bandwidth.tag", requests(Access::WordPerLine),
        "all SMs asking for 4 B of each line, lines that hit: the way of the answers is the limit");
    bench.at_least(
        "bandwidth.write", requests(Access::Store),
        "all SMs writing whole lines over and over, requests in both partitions: the fabric is the limit");
}

// Places scattered over more and more memory: first all lines hit at first hand and the ways to the SMs are
// the limit, then more and more are found in the other partition, over the fabric, and at last in DRAM. A
// slice gives the most where SMs and fabric both take from it.
void out_of_slices(ProbeBench& bench, Access access) {
    constexpr int kPasses = 80;
    const DeviceRoles roles(Roles::all(bench.sms()));
    double most_out = 0;
    double most_over = 0;
    for (const double part : {0.4, 0.6, 0.7, 0.8, 0.95, 1.1}) {
        const auto bytes = static_cast<std::int64_t>(bench.properties().l2CacheSize * part);
        const std::int64_t chunks = bytes / kChunkBytes / 8 * 8;
        const auto visit = [&](int passes) {
            visit_chunks(bench.buffer(), chunks, roles, access, passes, Places::Scattered);
        };
        const Counters c = bench.count([&] { visit(kPasses); }, [&] { visit(4); });
        const double cycles = c.at("lts__cycles_elapsed.sum");
        most_out = std::max(most_out, c.at("lts__t_sectors.sum") / cycles);
        const auto fabric = c.find("lts__t_sectors_srcunit_ltcfabric.sum");
        if (fabric != c.end()) most_over = std::max(most_over, fabric->second / cycles);
    }
    const std::string source =
        "all SMs reading places scattered over 0.4 to 1.1 of the L2's size, 32 KiB a copy: the most, ";
    bench.at_least("bandwidth.output", most_out, source + "SMs and fabric together");
    if (bench.partitions() > 1) bench.at_least("bandwidth.fabric", most_over, source + "over the fabric");
}

void from_dram(ProbeBench& bench) {
    const std::int64_t chunks = bench.buffer_bytes() / kChunkBytes;
    const DeviceRoles roles(Roles::all(bench.sms()));
    constexpr int kPasses = 4;  // a sweep over far more than the L2 meets nothing of the one before
    const Counters c = bench.count(
        [&] { visit_chunks(bench.buffer(), chunks, roles, Access::Load, kPasses); }, [&] { bench.flush(); });
    bench.found("bandwidth.dram",
                decimal(c.at("dram__sectors_read.sum") * 32 / c.at("gpu__time_duration.sum"), 0),
                "all SMs reading 1 GiB four times over");
}

}  // namespace

void probe_bandwidth(ProbeBench& bench) {
    const Access access = bench.has_clusters() ? Access::BulkCopy : Access::Load;
    into_an_sm(bench, access);
    into_a_gpc(bench);
    into_slices(bench);
    out_of_slices(bench, access);
    from_dram(bench);
    bench.missing("bandwidth.issue: needs boxes of half lines");
}

}  // namespace l2lens::gpu
