// SPDX-License-Identifier: Apache-2.0
// The ports of the GPCs as the slices know them: how far behind each is with what the lanes have sent it, by
// windows. It needs no GPC, so that a replay has it too.
#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "machine/machine.hpp"
#include "memory/lane.hpp"

namespace l2lens {

class GpcPorts {
public:
    GpcPorts(const Machine& machine, double lines_per_simulated_line)
        : queue_(from_ns(machine.bandwidth.gpc_queue_ns)),
          ns_per_byte_(lines_per_simulated_line / machine.bandwidth.gpc_bytes_per_ns),
          answer_bytes_(machine.bandwidth.answer_overhead_bytes),
          free_(static_cast<std::size_t>(machine.gpcs)),
          leaves_from_(free_.size()) {}

    // Do slices hold anything back on this machine?
    bool hold_back() const { return queue_ > 0; }

    // Ends a window that began at `begin`: tells the lanes from when on their data may leave for each GPC.
    void end_window(Picoseconds begin, const std::vector<Lane*>& lanes) {
        for (std::size_t gpc = 0; gpc < free_.size(); ++gpc) {
            double bytes = 0;
            for (Lane* lane : lanes) {
                const Lane::Sent sent = lane->take_sent(static_cast<int>(gpc));
                bytes += static_cast<double>(sent.sectors) * kSectorBytes +
                         static_cast<double>(sent.answers) * answer_bytes_;
            }
            free_[gpc] = std::max(free_[gpc], begin) + from_ns(bytes * ns_per_byte_);
            leaves_from_[gpc] = free_[gpc] - queue_;
        }
        for (Lane* lane : lanes) lane->hold_back(leaves_from_);
    }

private:
    Picoseconds queue_;
    double ns_per_byte_;
    double answer_bytes_;
    std::vector<Picoseconds> free_;
    std::vector<Picoseconds> leaves_from_;
};

}  // namespace l2lens
