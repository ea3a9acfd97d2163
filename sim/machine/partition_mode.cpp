// SPDX-License-Identifier: Apache-2.0
#include "machine/partition_mode.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "machine/parameters.hpp"

namespace l2lens {
namespace {

struct Mode {
    int devices = 0;  // that the GPU appears as
    int memories = 1;
};

Mode mode_of(const std::string& text) {
    constexpr std::pair<const char*, int> kCompute[] = {{"spx", 1}, {"dpx", 2}, {"qpx", 4}, {"cpx", 8}};
    const std::size_t dash = text.find('-');
    const std::string compute = text.substr(0, dash);
    const std::string memory = dash == std::string::npos ? "nps1" : text.substr(dash + 1);
    Mode mode;
    for (const auto& [name, devices] : kCompute)
        if (compute == name) mode.devices = devices;
    mode.memories = memory == "nps1" ? 1 : memory == "nps4" ? 4 : 0;
    if (mode.devices == 0 || mode.memories == 0)
        throw BadInput("partition mode '" + text + "': it is spx, dpx, qpx or cpx, then -nps1 or -nps4");
    if (mode.memories > mode.devices)
        throw BadInput("partition mode '" + text + "': there are no more memory than compute partitions");
    return mode;
}

// The GPCs that still have SMs get the numbers 0, 1, ...: a partition is a GPU of its own, without the
// others.
void renumber_gpcs(Machine& machine) {
    std::vector<int> kept;
    for (const Sm& sm : machine.sms) kept.push_back(sm.gpc);
    std::sort(kept.begin(), kept.end());
    kept.erase(std::unique(kept.begin(), kept.end()), kept.end());
    for (Sm& sm : machine.sms)
        sm.gpc = static_cast<int>(std::lower_bound(kept.begin(), kept.end(), sm.gpc) - kept.begin());
    machine.gpcs = static_cast<int>(kept.size());
}

}  // namespace

void take_partition(Machine& machine, const std::string& text) {
    const Mode mode = mode_of(text);
    if (!machine.l2.private_partitions || machine.partitions % mode.devices != 0)
        throw BadInput(machine.name + " has no partition modes: its L2 is not made of private ones");
    const int dies = machine.partitions / mode.devices;
    std::erase_if(machine.sms, [&](const Sm& sm) { return sm.partition >= dies; });
    std::vector<Sm*> by_place;
    for (Sm& sm : machine.sms) by_place.push_back(&sm);
    std::sort(by_place.begin(), by_place.end(),
              [](const Sm* a, const Sm* b) { return a->first_wave_position < b->first_wave_position; });
    for (std::size_t place = 0; place < by_place.size(); ++place)
        by_place[place]->first_wave_position = static_cast<int>(place);
    renumber_gpcs(machine);
    machine.partitions = dies;
    machine.last_level.bytes /= mode.memories;
    machine.last_level.bytes_per_ns /= mode.memories;
    machine.bandwidth.dram_bytes_per_ns /= mode.memories;
    machine.name += ":" + text;
    renew_values(machine);
}

}  // namespace l2lens
