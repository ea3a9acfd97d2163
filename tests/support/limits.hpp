// SPDX-License-Identifier: Apache-2.0
// The H200 with the limits that traces/h200/far.csv and shares.csv show, and that its machine file does not
// have yet (docs/fidelity.md says why).
#pragma once

#include "load/machine_file.hpp"
#include "machine/machine.hpp"

namespace l2lens::test {

inline Machine h200_with_limits() {
    Machine machine = load_machine("h200");
    machine.l2.replies_apart = true;
    machine.l2.far_lines = 64;              // 48 to 76 fit far.csv
    machine.l2.lookup_queue_requests = 50;  // with the next 500, the requests after which CPCs take turns
    machine.l2.input_queue_requests = 450;
    machine.l2.queue_lines = 48;           // 48 to 150 fit shares.csv
    machine.bandwidth.gpc_queue_ns = 100;  // 30 to 200 fit
    machine.bandwidth.fabric_sectors_per_l2_cycle = 0.5;
    return machine;
}

}  // namespace l2lens::test
