// SPDX-License-Identifier: Apache-2.0
// Which SMs form a GPC: all CTAs of a cluster run in one (CUDA C++ Programming Guide, "Thread Block
// Clusters"), so clusters of several sizes, wherever they are placed, tie together the SMs of each GPC and of
// no two.
#include <algorithm>
#include <numeric>

#include "gpu/probe/bench.hpp"

namespace l2lens::gpu {
namespace {

// Union-find over SM ids.
class Groups {
public:
    explicit Groups(int count) : parent_(static_cast<std::size_t>(count)) {
        std::iota(parent_.begin(), parent_.end(), 0);
    }
    void join(int a, int b) { parent_[static_cast<std::size_t>(root(a))] = root(b); }
    int root(int a) {
        while (parent_[static_cast<std::size_t>(a)] != a) a = parent_[static_cast<std::size_t>(a)];
        return a;
    }
    // Each group ascending, groups by their first member.
    std::vector<std::vector<int>> lists() {
        std::vector<std::vector<int>> groups;
        std::vector<int> group_of_root(parent_.size(), -1);
        for (int i = 0; i < static_cast<int>(parent_.size()); ++i) {
            int& group = group_of_root[static_cast<std::size_t>(root(i))];
            if (group < 0) {
                group = static_cast<int>(groups.size());
                groups.emplace_back();
            }
            groups[static_cast<std::size_t>(group)].push_back(i);
        }
        return groups;
    }

private:
    std::vector<int> parent_;
};

std::string list_text(const std::vector<int>& values) {
    std::string text = "[";
    for (const int value : values) text += (text.size() > 1 ? ", " : "") + std::to_string(value);
    return text + "]";
}

// Two SMs that start a read within tens of nanoseconds merge most of it when they share a coalescer (a factor
// near 2).
void join_merging(ProbeBench& bench, Groups& groups, const std::vector<std::vector<int>>& lists) {
    constexpr double kMerging = 1.4;
    const std::size_t most = 2;  // SMs of a TPC
    for (std::size_t small = 0; small < lists.size(); ++small) {
        if (lists[small].size() > most) continue;
        for (const auto& other : lists) {
            const int a = lists[small].front();
            const int b = other.front();
            if (groups.root(a) != groups.root(b) && merge_factor(bench, {a, b}) > kMerging) groups.join(a, b);
        }
    }
}

void probe_gpcs(ProbeBench& bench) {
    Groups groups(bench.sms());
    for (int round = 0; round < 4; ++round)
        for (const int size : {16, 8, 7, 6, 5, 4, 3, 2})
            for (const auto& cluster : place_clusters(size, bench.sms()))
                for (const int sm : cluster) groups.join(cluster.front(), sm);
    const auto clustered = groups.lists();
    join_merging(bench, groups, clustered);
    bench.gpcs = groups.lists();
    bench.note("clusters tie the SMs into " + std::to_string(clustered.size()) +
               " groups, the coalescer those into " + std::to_string(bench.gpcs.size()) + " GPCs");
    std::string text = "[";
    for (const auto& gpc : bench.gpcs) text += (text.size() > 1 ? ", " : "") + list_text(gpc);
    bench.found("topology.sms", text + "]",
                "SMs that ran CTAs of one cluster (2 to 16 CTAs), and groups of them that merge reads");
}

void probe_first_wave(ProbeBench& bench) {
    const auto order = place_first_wave(bench.sms());
    auto sorted = order;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end())
        return bench.missing(
            "topology.first_wave: two CTAs of the first wave ran on one SM (is another program running?)");
    bench.found("topology.first_wave", list_text(order),
                "%smid of each CTA of one launch; which GPC comes first may rotate from launch to launch");
}

}  // namespace

void probe_topology(ProbeBench& bench) {
    if (bench.has_clusters())
        probe_gpcs(bench);
    else
        bench.missing(
            "topology.sms: GPCs are read from cluster placement, which needs compute capability 9.0");
    probe_first_wave(bench);
}

}  // namespace l2lens::gpu
