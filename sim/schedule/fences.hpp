// SPDX-License-Identifier: Apache-2.0
// Fences of GPU scope. Each asks every slice, and every slice asks its partner over the fabric; all of them
// hit. Recorded launches look up 187 sectors more for each tile of a kernel that takes its tiles from a
// counter by an acquiring atomic, which is 2 x 94 slices, and 340 and 540 for each CTA of a cluster of one
// and two math warp groups beside the producer (lts__t_sectors less reads and writes in
// traces/h200/gemm_more.csv and live_groups.csv; tests/recorded/fences.cpp). As a launch ends each SM
// that ran a CTA fences launch.end_fences times (traces/h200/dram_loop.csv: a launch of one CTA asks over the
// fabric for 134 sectors that are no data's, one of 132 for 12600).
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernel/kernel.hpp"
#include "machine/machine.hpp"

namespace l2lens {

// Of a launch. Persistent ones have a CTA an SM.
inline double fences_of(const Kernel& kernel, const Machine& machine, bool persistent) {
    const auto sms = static_cast<std::int64_t>(machine.sms.size());
    const std::int64_t busy_sms = std::min<std::int64_t>(kernel.tiles(), sms);
    const std::int64_t ctas = persistent ? busy_sms : kernel.tiles();
    return kernel.fences_per_tile * static_cast<double>(kernel.tiles()) +
           kernel.fences_per_cta * static_cast<double>(ctas) +
           machine.launch.end_fences * static_cast<double>(busy_sms);
}

// Their lookups in the SMs' own partitions, and as many in the other one; 0 on machines with other than two
// partitions, of which nothing is known.
inline double fence_sectors(const Machine& machine, double fences) {
    return machine.partitions == 2 && !machine.l2.private_partitions ? fences * machine.slices() : 0;
}

}  // namespace l2lens
