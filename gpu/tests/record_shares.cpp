// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_shares: how a busy L2 divides itself among the SMs, as rows of traces/h200/shares.csv (its
// README says what the columns are). Every SM that takes part copies 160 KiB of its own, resident in the L2,
// with so many copies in flight. `l2lens_gpu_shares stores`: the rows of stores.csv, of SMs that store.
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"

#include "gpu/probe/bench.hpp"
#include "gpu/tests/read_items.hpp"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

constexpr std::int64_t kResident = 10 * kCopyBytes;
constexpr std::int64_t kStreamed = 256 * kCopyBytes;  // 528 MiB of all SMs: each copy comes from DRAM
constexpr std::int64_t kDurationNs = 400000;

// The SMs of the TPCs of each GPC whose number `takes` accepts, counted within the GPC.
template <class Takes>
std::vector<int> tpcs(const ProbeBench& bench, Takes&& takes) {
    std::vector<int> chosen;
    for (const std::vector<int>& gpc : bench.gpcs) {
        for (std::size_t i = 0; i < gpc.size(); ++i) {
            if (takes(static_cast<int>(i / 2))) chosen.push_back(gpc[i]);
        }
    }
    return chosen;
}

void record(const ProbeBench& bench, const char* set, const std::vector<int>& sms, std::int64_t region,
            int depth) {
    const DeviceRoles roles(Roles::of(sms, bench.sms()));
    std::vector<CopyJob> jobs;
    for (std::size_t i = 0; i < sms.size(); ++i)
        jobs.push_back({static_cast<std::int64_t>(i) * region, region, depth});
    const std::vector<std::uint64_t> bytes =
        copy_for_a_while(bench.buffer(), jobs, CopyWith::Bulk, kDurationNs, roles);
    for (int sm : sms) {
        std::printf("%s,%zu,%d,%d,%.2f\n", set, sms.size(), depth, sm,
                    static_cast<double>(bytes[static_cast<std::size_t>(sm)]) / kDurationNs);
    }
}

// Stores of 128 KiB of each SM's own, which wait in the L2.
void record_stores(const ProbeBench& bench, const std::string& set, const std::vector<int>& sms) {
    constexpr std::int64_t kRegion = 8 * kCopyBytes;
    const DeviceRoles roles(Roles::of(sms, bench.sms()));
    const std::vector<std::uint64_t> bytes = store_for_a_while(bench.buffer(), kRegion, kDurationNs, roles);
    for (int sm : sms) {
        std::printf("%s,%zu,%d,%.2f\n", set.c_str(), sms.size(), sm,
                    static_cast<double>(bytes[static_cast<std::size_t>(sm)]) / kDurationNs);
    }
}

void record_all_stores(const ProbeBench& bench) {
    std::printf("set,sms,sm,bytes_per_ns\n");
    record_stores(bench, "one", {bench.gpcs[0][0]});
    record_stores(bench, "one_tpc", {bench.gpcs[0][0], bench.gpcs[0][1]});
    std::vector<int> all, one_of_each_tpc;
    for (const std::vector<int>& gpc : bench.gpcs) {
        for (std::size_t i = 0; i < gpc.size(); ++i) {
            all.push_back(gpc[i]);
            if (i % 2 == 0) one_of_each_tpc.push_back(gpc[i]);
        }
    }
    record_stores(bench, "one_of_each_tpc", one_of_each_tpc);
    record_stores(bench, "gpc_0", bench.gpcs.front());
    record_stores(bench, "gpc_" + std::to_string(bench.gpcs.size() - 1), bench.gpcs.back());
    record_stores(bench, "all", all);
}

}  // namespace

int main(int count, char** words) {
    try {
        const bool stores = count == 2 && std::string(words[1]) == "stores";
        if (count > 1 && !stores) throw BadInput("l2lens_gpu_shares takes no word, or 'stores'");
        ProbeBench bench;
        probe_limits(bench);
        probe_topology(bench);
        probe_home(bench);
        std::fprintf(stderr, "gpc of each sm:");
        for (std::size_t g = 0; g < bench.gpcs.size(); ++g) {
            for (int sm : bench.gpcs[g])
                std::fprintf(stderr, " %d:%zu:%d", sm, g,
                             bench.partition_of_sm[static_cast<std::size_t>(sm)]);
        }
        std::fprintf(stderr, "\n");
        if (stores) {
            record_all_stores(bench);
            return 0;
        }
        std::map<std::string, std::vector<int>> sets;
        sets["all"] = tpcs(bench, [](int) { return true; });
        for (int n = 1; n <= 8; ++n) {
            sets["tpcs_per_gpc_" + std::to_string(n)] = tpcs(bench, [n](int tpc) { return tpc < n; });
        }
        for (int cpc = 0; cpc < 3; ++cpc) {
            sets["cpc_" + std::to_string(cpc) + "_of_each_gpc"] =
                tpcs(bench, [cpc](int tpc) { return tpc % 3 == cpc; });
        }
        sets["one_partition"] = bench.sms_of_partition(0);
        for (const std::size_t gpc : {std::size_t{0}, bench.gpcs.size() - 1}) {
            const std::vector<int>& sms = bench.gpcs[gpc];
            const std::string name = "gpc_" + std::to_string(gpc);
            sets[name] = sms;
            const auto some = [&](const std::string& which, const std::vector<std::size_t>& chosen) {
                for (const std::size_t tpc : chosen) {
                    sets[name + which].push_back(sms[2 * tpc]);
                    sets[name + which].push_back(sms[2 * tpc + 1]);
                }
            };
            some("_tpc_0", {0});
            some("_tpcs_0_3", {0, 3});
            some("_tpcs_0_1", {0, 1});
            some("_tpcs_0_3_6", {0, 3, 6});
            some("_tpcs_1_4_7", {1, 4, 7});
            some("_tpcs_0_1_2", {0, 1, 2});
            some("_tpcs_0_1_2_3_4_5", {0, 1, 2, 3, 4, 5});
            some("_tpcs_0_1_3_4_6_7", {0, 1, 3, 4, 6, 7});
        }
        std::printf("set,sms,copies_in_flight,sm,bytes_per_ns\n");
        for (const auto& [name, sms] : sets) {
            for (const int depth : {1, 2, 3, 4, 6, 8, 12}) record(bench, name.c_str(), sms, kResident, depth);
        }
        for (const int depth : {1, 2, 3, 4, 6, 8, 12})
            record(bench, "all_streaming", sets["all"], kStreamed, depth);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
