// SPDX-License-Identifier: Apache-2.0
// Who merges with whom in front of the L2, and how many at once: SMs read the same missing lines at the same
// time.
#include <algorithm>

#include "gpu/probe/bench.hpp"

namespace l2lens::gpu {
namespace {

constexpr const char* kAsked = "lrc__request_sectors_op_read_coalescable.sum";
constexpr const char* kMerged = "lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum";
constexpr int kRounds = 1500;
constexpr int kLines = 8;

// Do SMs of one GPC merge, and of two GPCs not? This also checks the GPC table, which was read from clusters.
void check_scope(ProbeBench& bench) {
    double within = 10;
    double across = 0;
    for (std::size_t i = 0; i < bench.gpcs.size(); ++i) {
        const auto& gpc = bench.gpcs[i];
        const auto& other = bench.gpcs[(i + 1) % bench.gpcs.size()];
        if (gpc.size() > 1) within = std::min(within, merge_factor(bench, {gpc.front(), gpc.back()}));
        if (&gpc != &other) across = std::max(across, merge_factor(bench, {gpc.front(), other.front()}));
    }
    bench.note("two SMs of a GPC merge to " + decimal(within, 2) +
               " requests a sector or more, of two GPCs to " + decimal(across, 2) + " at most");
}

}  // namespace

double merge_factor(ProbeBench& bench, const std::vector<int>& sms) {
    const DeviceRoles roles(Roles::of(sms, bench.sms()));
    const Counters c = bench.count([&] { read_in_lockstep(bench.buffer(), kRounds, kLines, roles); },
                                   [&] { bench.flush(); });
    return c.count(kAsked) ? c.at(kAsked) / (c.at(kAsked) - c.at(kMerged)) : 1;
}

void probe_coalescer(ProbeBench& bench) {
    const DeviceRoles one(Roles::of({0}, bench.sms()));
    const Counters c = bench.count([&] { read_in_lockstep(bench.buffer(), 10, kLines, one); }, {});
    if (!c.count(kAsked)) {
        bench.found("coalescer.present", "false", "the chip has no lrc counters", Confidence::Documented);
        return;
    }
    if (bench.gpcs.empty()) return bench.missing("coalescer: needs the GPCs");
    const auto largest = *std::max_element(bench.gpcs.begin(), bench.gpcs.end(),
                                           [](const auto& a, const auto& b) { return a.size() < b.size(); });
    check_scope(bench);
    std::string factors;
    std::vector<double> factor;
    for (std::size_t n = 2; n <= std::min<std::size_t>(largest.size(), 8); ++n) {
        factor.push_back(
            merge_factor(bench, {largest.begin(), largest.begin() + static_cast<std::ptrdiff_t>(n)}));
        factors += (factors.empty() ? "" : ", ") + decimal(factor.back(), 2);
    }
    const bool present = factor.front() > 1.5;
    bench.found("coalescer.present", present ? "true" : "false",
                "2 to 8 SMs of a GPC in lockstep on missing lines: " + factors + " requests a sector");
    if (!present) return;
    // One requester more than an entry takes opens a second entry, and the factor falls.
    for (std::size_t i = 0; i + 1 < factor.size(); ++i) {
        if (factor[i + 1] >= factor[i]) continue;
        return bench.found("coalescer.max_requesters", std::to_string(i + 2),
                           "the factor falls with one SM more: " + factors + " for 2 to 8 SMs");
    }
    bench.missing("coalescer.max_requesters: 8 SMs still merge: " + factors);
}

}  // namespace l2lens::gpu
