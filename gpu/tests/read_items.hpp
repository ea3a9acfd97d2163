// SPDX-License-Identifier: Apache-2.0
// The kernels of the recorders that ask which slice serves an address, and who gets how much of a busy L2.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "gpu/probe/kernels.hpp"

namespace l2lens::gpu {

// Read one sector `loads` times, one load after the other, past the L1.
struct ReadItem {
    std::uint64_t offset = 0;  // bytes into the buffer
    std::uint32_t loads = 0;
};

enum class Share {
    Each,   // every participant reads all items
    Split,  // participant p reads the items i with i mod participants = p
};

// Asynchronous. `items` is device memory; the buffer holds zeros.
void read_items(const void* buffer, const ReadItem* items, int count, Share share, const DeviceRoles& roles);

inline constexpr std::int64_t kCopyBytes = 16 << 10;

// Each participant copies its own `region_bytes` of the buffer into its SM over and over, `depth` copies of
// kCopyBytes in flight, all of them during the same `duration_ns`. Bytes copied, by SM; 0 for bystanders.
std::vector<std::uint64_t> copy_for_a_while(const void* buffer, std::int64_t region_bytes, int depth,
                                            std::int64_t duration_ns, const DeviceRoles& roles);

// The other way: each participant writes its own region from its SM's shared memory, four pieces of
// kCopyBytes in flight. Bytes written, by SM.
std::vector<std::uint64_t> store_for_a_while(void* buffer, std::int64_t region_bytes,
                                             std::int64_t duration_ns, const DeviceRoles& roles);

}  // namespace l2lens::gpu
