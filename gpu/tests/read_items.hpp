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

// What one participant copies into its SM over and over: a part of the buffer that begins and ends at a
// multiple of kCopyBytes, with so many copies of kCopyBytes in flight.
struct CopyJob {
    std::int64_t first_byte = 0;
    std::int64_t bytes = 0;
    int in_flight = 0;
};

enum class CopyWith {
    Bulk,         // a copy is a contiguous piece
    Boxes,        // a copy is a tensor box of 128 rows x 128 B that follow each other
    BoxesOfRows,  // its rows are kCopyBytes apart, as a GEMM's loads are; 128 copies are 2 MiB
};

// Participant p does jobs[p], all of them during the same `duration_ns`. Bytes copied, by SM; 0 for
// bystanders.
std::vector<std::uint64_t> copy_for_a_while(const void* buffer, std::span<const CopyJob> jobs, CopyWith with,
                                            std::int64_t duration_ns, const DeviceRoles& roles);

// The other way: each participant writes its own region from its SM's shared memory, four pieces of
// kCopyBytes in flight. Bytes written, by SM.
std::vector<std::uint64_t> store_for_a_while(void* buffer, std::int64_t region_bytes,
                                             std::int64_t duration_ns, const DeviceRoles& roles);

}  // namespace l2lens::gpu
