// SPDX-License-Identifier: Apache-2.0
// The microbenchmarks' kernels as functions. Addresses are byte offsets into a buffer of device memory.
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/probe/roles.hpp"

namespace l2lens::gpu {

// ---- placement
// -------------------------------------------------------------------------------------------------

// The SM of each CTA of a launch of one CTA per SM, by launch id.
std::vector<int> place_first_wave(int sms);

// The SMs of each cluster of a launch of clusters of `size` CTAs, one CTA an SM; empty when the GPU has no
// clusters of that size.
std::vector<std::vector<int>> place_clusters(int size, int sms);

struct CtaSpan {
    int sm = 0;
    std::int64_t start_ns = 0;
    std::int64_t end_ns = 0;
};

// CTAs that each spin for about `spin_ns`, one an SM at a time, by launch id.
std::vector<CtaSpan> record_spinning_ctas(int ctas, int spin_ns);

// ---- latency: the first participant's thread 0
// -------------------------------------------------------------------

// Mean cycles of a dependent atomic on each address: resolved in the home partition.
std::vector<double> atomic_cycles(void* buffer, const std::vector<std::uint64_t>& offsets,
                                  const Roles& roles);

// Cycles of one load (L1 bypassed) of each address, after a touch of the same page but another line, so that
// no load waits for a translation.
std::vector<double> load_cycles(const void* buffer, const std::vector<std::uint64_t>& offsets,
                                const Roles& roles);

// ---- traffic
// -----------------------------------------------------------------------------------------------------

inline constexpr std::int64_t kChunkBytes = 4096;

enum class Access : std::int32_t {
    Load,         // 16 B a thread, L1 bypassed
    BulkCopy,     // to shared memory by the copy engine; Hopper and newer
    Store,        // whole lines
    BulkStore,    // from shared memory by the copy engine; Hopper and newer
    WordPerLine,  // 4 B of each 128 B line, L1 bypassed
    HalfLine,     // 64 B of each 128 B line, 16 B a thread, L1 bypassed
};

// In which order the chunks are taken.
enum class Places : std::int32_t {
    InTurn,     // a sweep; one over more than a cache holds meets nothing there
    Scattered,  // hashed: a cache that holds part of the chunks has that part of the accesses
};

// Roles on the device, for launches that are repeated under counters.
class DeviceRoles {
public:
    explicit DeviceRoles(const Roles& roles);
    ~DeviceRoles();
    DeviceRoles(const DeviceRoles&) = delete;
    DeviceRoles& operator=(const DeviceRoles&) = delete;
    const int* device() const { return device_; }
    int participants() const { return participants_; }
    int sms() const { return sms_; }

private:
    int* device_ = nullptr;
    int participants_ = 0;
    int sms_ = 0;
};

// Asynchronous. Participants take the buffer's first `chunks` chunks (a multiple of 8), `passes` times as
// many visits between them.
void visit_chunks(void* buffer, std::int64_t chunks, const DeviceRoles& roles, Access access, int passes,
                  Places places = Places::InTurn);

// Asynchronous. All participants read the same lines of the buffer at the same time, `lines_per_round` (a
// multiple of 4) every two microseconds; each round reads lines that no round read before.
void read_in_lockstep(const void* buffer, int rounds, int lines_per_round, const DeviceRoles& roles);

}  // namespace l2lens::gpu
