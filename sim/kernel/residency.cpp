// SPDX-License-Identifier: Apache-2.0
// Granularities from CUDA's occupancy calculator (compute capability 7.0 to 10.0): a warp takes registers in
// units of 256, an SM hands them out to four warps (one per sub-partition) at a time, and shared memory comes
// in units of 128 B.
#include "kernel/residency.hpp"

#include <algorithm>

#include "base/bytes_text.hpp"
#include "base/units.hpp"

namespace l2lens {
namespace {

constexpr int kWarp = 32;
constexpr int kRegisterUnit = 256;
constexpr int kSubPartitions = 4;
constexpr std::int64_t kSharedMemoryUnit = 128;

// Shared memory that an SM can be configured for, in KiB (CUDA C++ Programming Guide, compute
// capabilities 7.0 to 9.0): the driver takes the least that holds the resident CTAs.
constexpr std::int64_t kCarveOuts[] = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
constexpr std::int64_t kKiB = 1024;

std::int64_t warps(const Resources& r) {
    return ceil_div(std::max(r.threads, 1), kWarp);
}

std::int64_t by_registers(const Resources& r, const Machine& machine) {
    const int per_warp = ceil_div(std::max(r.registers_per_thread, 1) * kWarp, kRegisterUnit) * kRegisterUnit;
    const std::int64_t warps_that_fit = machine.sm.registers / per_warp / kSubPartitions * kSubPartitions;
    return warps_that_fit / warps(r);
}

std::int64_t by_shared_memory(const Resources& r, const Machine& machine) {
    if (r.shared_memory_bytes > machine.sm.shared_memory_per_cta) return 0;
    const std::int64_t each = ceil_div(r.shared_memory_bytes, kSharedMemoryUnit) * kSharedMemoryUnit +
                              machine.sm.shared_memory_reserved;
    return each == 0 ? machine.sm.ctas : machine.sm.shared_memory_bytes / each;
}

std::int64_t by_threads(const Resources& r, const Machine& machine) {
    return machine.sm.threads / (warps(r) * kWarp);
}

}  // namespace

int ctas_per_sm(const Resources& resources, const Machine& machine) {
    return static_cast<int>(std::min({by_shared_memory(resources, machine), by_registers(resources, machine),
                                      by_threads(resources, machine), std::int64_t{machine.sm.ctas}}));
}

std::int64_t l1_bytes(const Resources& r, int ctas, const Machine& machine) {
    const Machine::SmLimits& sm = machine.sm;
    if (!sm.l1_holds_shared) return sm.l1_bytes;
    const std::int64_t each =
        r.shared_memory_bytes == 0 ? 0 : r.shared_memory_bytes + sm.shared_memory_reserved;
    std::int64_t shared = sm.shared_memory_bytes;
    for (const std::int64_t size : kCarveOuts) {
        if (size * kKiB < ctas * each) continue;
        shared = std::min(size * kKiB, shared);
        break;
    }
    return std::max<std::int64_t>(sm.l1_bytes - shared, 0);
}

std::string why_no_cta_fits(const Resources& r, const Machine& machine) {
    if (by_shared_memory(r, machine) < 1) {
        return "needs " + bytes_text(static_cast<double>(r.shared_memory_bytes)) +
               " of shared memory per CTA, " + machine.name + " has " +
               bytes_text(static_cast<double>(machine.sm.shared_memory_per_cta));
    }
    if (by_registers(r, machine) < 1) {
        return "needs " + std::to_string(r.registers_per_thread) + " registers for each of " +
               std::to_string(r.threads) + " threads, an SM of " + machine.name + " has " +
               std::to_string(machine.sm.registers);
    }
    if (by_threads(r, machine) < 1) {
        return "needs " + std::to_string(r.threads) + " threads per CTA, an SM of " + machine.name + " has " +
               std::to_string(machine.sm.threads);
    }
    return "";
}

}  // namespace l2lens
