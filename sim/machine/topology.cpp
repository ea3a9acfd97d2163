// SPDX-License-Identifier: Apache-2.0
#include "machine/topology.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "machine/parameters.hpp"

namespace l2lens {
namespace {

int count_sms(const Topology& topology) {
    std::size_t count = 0;
    for (const auto& sms : topology.sms_of_gpc) count += sms.size();
    return static_cast<int>(count);
}

// What keeps `ids` from being each of 0 .. count-1 once, "" when nothing does.
std::string permutation_problem(const std::vector<int>& ids, int count) {
    std::vector<bool> seen(static_cast<std::size_t>(count));
    for (const int id : ids) {
        if (id < 0 || id >= count)
            return "SM " + std::to_string(id) + " is out of range: there are " + std::to_string(count) +
                   " SMs, numbered from 0";
        if (seen[static_cast<std::size_t>(id)]) return "SM " + std::to_string(id) + " is listed twice";
        seen[static_cast<std::size_t>(id)] = true;
    }
    const auto missing = std::ranges::find(seen, false);
    if (missing != seen.end()) return "SM " + std::to_string(missing - seen.begin()) + " is missing";
    return "";
}

std::vector<int> all_sms(const Topology& topology) {
    std::vector<int> ids;
    for (const auto& sms : topology.sms_of_gpc) ids.insert(ids.end(), sms.begin(), sms.end());
    return ids;
}

void check_partitions(const Topology& topology, int partitions, std::vector<Problem>& problems) {
    const std::string key = "topology.partition_of_gpc";
    if (topology.partition_of_gpc.size() != topology.sms_of_gpc.size())
        problems.push_back({key, "has " + std::to_string(topology.partition_of_gpc.size()) +
                                     " entries for the " + std::to_string(topology.sms_of_gpc.size()) +
                                     " GPCs of topology.sms"});
    for (const int partition : topology.partition_of_gpc)
        if (partition < 0 || partition >= partitions)
            problems.push_back({key, "names partition " + std::to_string(partition) + ", but there are " +
                                         std::to_string(partitions) + ", numbered from 0"});
    for (int partition = 0; partition < partitions; ++partition)
        if (std::ranges::find(topology.partition_of_gpc, partition) == topology.partition_of_gpc.end())
            problems.push_back({key, "gives partition " + std::to_string(partition) + " no SM"});
}

// Two SMs are a TPC: they are in one CPC.
void place_in_cpcs(Machine& machine) {
    constexpr int kSmsOfTpc = 2;
    std::vector<int> placed(static_cast<std::size_t>(machine.gpcs), 0);  // SMs of the GPC so far
    for (Sm& sm : machine.sms) {
        const int tpc = placed[static_cast<std::size_t>(sm.gpc)]++ / kSmsOfTpc;
        sm.cpc = tpc % machine.cpcs_per_gpc;
    }
}

}  // namespace

std::vector<Problem> check(const Topology& topology, int partitions) {
    std::vector<Problem> problems;
    for (std::size_t gpc = 0; gpc < topology.sms_of_gpc.size(); ++gpc) {
        const std::size_t sms = topology.sms_of_gpc[gpc].size();
        const std::string name = "GPC " + std::to_string(gpc);
        if (sms == 0) problems.push_back({"topology.sms", name + " has no SM"});
        if (sms > kMaxSmsOfGpc)
            problems.push_back({"topology.sms", name + " has " + std::to_string(sms) + " SMs; at most " +
                                                    std::to_string(kMaxSmsOfGpc)});
    }
    const int count = count_sms(topology);
    if (count == 0) problems.push_back({"topology.sms", "lists no SM"});
    if (topology.sms_of_gpc.size() > kMaxGpcs)
        problems.push_back({"topology.sms", "has " + std::to_string(topology.sms_of_gpc.size()) +
                                                " GPCs; at most " + std::to_string(kMaxGpcs)});
    if (const auto text = permutation_problem(all_sms(topology), count); !text.empty())
        problems.push_back({"topology.sms", text});
    check_partitions(topology, partitions, problems);
    if (const auto text = permutation_problem(topology.first_wave, count); !text.empty())
        problems.push_back({"topology.first_wave", text});
    return problems;
}

void place_sms(const Topology& topology, Machine& machine) {
    machine.gpcs = static_cast<int>(topology.sms_of_gpc.size());
    machine.sms.assign(static_cast<std::size_t>(count_sms(topology)), Sm{});
    for (std::size_t gpc = 0; gpc < topology.sms_of_gpc.size(); ++gpc)
        for (const int id : topology.sms_of_gpc[gpc]) {
            Sm& sm = machine.sms[static_cast<std::size_t>(id)];
            sm.gpc = static_cast<int>(gpc);
            sm.partition = topology.partition_of_gpc[gpc];
        }
    place_in_cpcs(machine);
    for (std::size_t position = 0; position < topology.first_wave.size(); ++position)
        machine.sms[static_cast<std::size_t>(topology.first_wave[position])].first_wave_position =
            static_cast<int>(position);
}

void keep_sms(Machine& machine, int count) {
    const auto there = static_cast<int>(machine.sms.size());
    if (count < 1 || count > there)
        throw BadInput("--sms: " + machine.name + " has " +
                       (there == 1 ? "1 SM" : "1 to " + std::to_string(there) + " SMs") + ", not " +
                       std::to_string(count));
    std::erase_if(machine.sms, [&](const Sm& sm) { return sm.first_wave_position >= count; });
    renew_values(machine);
}

std::vector<std::uint8_t> numbers_in_gpcs(const Machine& machine) {
    std::vector<std::uint8_t> met(static_cast<std::size_t>(machine.gpcs), 0);
    std::vector<std::uint8_t> numbers;
    for (const Sm& sm : machine.sms) numbers.push_back(met[static_cast<std::size_t>(sm.gpc)]++);
    return numbers;
}

Topology topology_of(const Machine& machine) {
    const auto gpcs = static_cast<std::size_t>(machine.gpcs);
    Topology topology{std::vector<std::vector<int>>(gpcs), std::vector<int>(gpcs),
                      std::vector<int>(machine.sms.size())};
    for (std::size_t id = 0; id < machine.sms.size(); ++id) {
        const Sm& sm = machine.sms[id];
        topology.sms_of_gpc[static_cast<std::size_t>(sm.gpc)].push_back(static_cast<int>(id));
        topology.partition_of_gpc[static_cast<std::size_t>(sm.gpc)] = sm.partition;
        topology.first_wave[static_cast<std::size_t>(sm.first_wave_position)] = static_cast<int>(id);
    }
    return topology;
}

}  // namespace l2lens
