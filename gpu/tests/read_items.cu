// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "gpu/device_buffer.hpp"
#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/tensor_map.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/copy_ring.cuh"
#include "gpu/tests/loads.cuh"
#include "gpu/tests/meeting.cuh"
#include "gpu/tests/read_items.hpp"

namespace l2lens::gpu {
namespace {

constexpr int kItemThreads = 512;
constexpr int kSharedAlignment = 1024;  // the swizzle of boxes wants it

// A thread an item; a load's address depends on the value before it, which is 0.
__global__ void item_kernel(const char* buffer, const ReadItem* items, int count, int first_step,
                            const int* roles) {
    const int role = roles[sm_id()];
    if (role < 0) return;
    const int first = first_step > 1 ? role : 0;
    for (int i = first + first_step * static_cast<int>(threadIdx.x); i < count;
         i += first_step * static_cast<int>(blockDim.x)) {
        unsigned value = 0;
        for (std::uint32_t n = 0; n < items[i].loads; ++n)
            value |= load_word_past_l1(buffer + items[i].offset + value);
        if (value != 0) __trap();
    }
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
constexpr int kMaxDepth = 16;

// Moves kCopyBytes after kCopyBytes from `start` on; the bytes of the first `duration_ns`.
template <class Move>
__device__ unsigned long long bytes_for_a_while(long long start, long long duration_ns, Move&& move) {
    while (global_timer() < start) {
    }
    constexpr int kBetweenLooks = 16;  // reading the timer takes some 80 ns
    unsigned long long moved = 0;
    long long now = start;
    for (; now < start + duration_ns; moved += kBetweenLooks) {
        for (int i = 0; i < kBetweenLooks; ++i) move();
        now = global_timer();
    }
    const double share = static_cast<double>(duration_ns) / static_cast<double>(now - start);
    return static_cast<unsigned long long>(static_cast<double>(moved * kCopyBytes) * share);
}
#endif

// Both start the copy of the buffer's `piece`-th kCopyBytes.
struct BulkCopies {
    const char* buffer;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __device__ void start(std::uint32_t to, unsigned piece, std::uint32_t barrier) const {
        probe::start_bulk_copy(to, buffer + piece * kCopyBytes, static_cast<std::uint32_t>(kCopyBytes),
                               barrier);
    }
#endif
};

struct BoxCopies {
    static constexpr int kRowBytes = 128;
    static constexpr int kRows = kCopyBytes / kRowBytes;
    CUtensorMap map;  // the buffer as rows of `columns` times kRowBytes
    int columns;
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __device__ void start(std::uint32_t to, unsigned piece, std::uint32_t barrier) const {
        hopper::barrier_expect_bytes(barrier, static_cast<std::uint32_t>(kCopyBytes));
        const int number = static_cast<int>(piece);
        hopper::load_box(&map, to, barrier, number % columns * (kRowBytes / 2), number / columns * kRows);
    }
#endif
};

template <class Copies>
__global__ void copy_kernel(const __grid_constant__ Copies copies, const CopyJob* jobs, long long duration_ns,
                            const int* roles, int participants, Meeting* meeting,
                            unsigned long long* bytes_of_sm) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    extern __shared__ __align__(kSharedAlignment) char shared[];
    __shared__ std::uint64_t barriers[kMaxDepth];
    const int role = roles[sm_id()];
    if (role < 0 || threadIdx.x != 0) return;
    const auto to = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    CopyRing ring(barriers, jobs[role].in_flight);
    const auto first = static_cast<unsigned>(jobs[role].first_byte / kCopyBytes);
    const auto pieces = static_cast<unsigned>(jobs[role].bytes / kCopyBytes);
    unsigned next = 0;
    const auto start_next = [&](int slot, std::uint32_t barrier) {
        copies.start(to + static_cast<std::uint32_t>(slot * kCopyBytes), first + next, barrier);
        next = next + 1 == pieces ? 0 : next + 1;
    };
    ring.begin(start_next);
    // Once over the region: from now on the L2 has it.
    for (unsigned n = 0; n < pieces; ++n) ring.turn(start_next);
    const long long start = meet(meeting, role, participants);
    bytes_of_sm[sm_id()] = bytes_for_a_while(start, duration_ns, [&] { ring.turn(start_next); });
    ring.finish();
#endif
}

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
__device__ void start_bulk_store(char* to, std::uint32_t from) {
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
                 "r"(static_cast<std::uint32_t>(kCopyBytes))
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
#endif

__global__ void store_kernel(char* buffer, std::int64_t region_bytes, long long duration_ns, const int* roles,
                             int participants, Meeting* meeting, unsigned long long* bytes_of_sm) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    extern __shared__ __align__(kSharedAlignment) char shared[];
    const int role = roles[sm_id()];
    if (role < 0 || threadIdx.x != 0) return;
    const auto from = static_cast<std::uint32_t>(__cvta_generic_to_shared(shared));
    char* region = buffer + role * region_bytes;
    const auto pieces = static_cast<unsigned>(region_bytes / kCopyBytes);
    unsigned next = 0;
    const auto store_next = [&] {
        start_bulk_store(region + next * kCopyBytes, from);
        asm volatile("cp.async.bulk.wait_group 3;" ::: "memory");  // with this one four are in flight
        next = next + 1 == pieces ? 0 : next + 1;
    };
    for (unsigned n = 0; n < pieces; ++n) store_next();  // from now on the L2 has the region
    const long long start = meet(meeting, role, participants);
    bytes_of_sm[sm_id()] = bytes_for_a_while(start, duration_ns, store_next);
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
#endif
}

// What the participants report after launch(meeting, bytes by SM).
template <class Launch>
std::vector<std::uint64_t> bytes_of_sms(const DeviceRoles& roles, const char* doing, Launch&& launch) {
    DeviceBuffer<Meeting> meeting(1);
    DeviceBuffer<unsigned long long> bytes(static_cast<std::size_t>(roles.sms()));
    meeting.fill_bytes(0);
    bytes.fill_bytes(0);
    launch(meeting.get(), bytes.get());
    check_launch(doing);
    const std::vector<unsigned long long> moved = bytes.to_host();
    return {moved.begin(), moved.end()};
}

template <class Copies>
std::vector<std::uint64_t> copy_with(const Copies& copies, std::span<const CopyJob> jobs,
                                     std::int64_t duration_ns, const DeviceRoles& roles) {
    const DeviceBuffer<CopyJob> device_jobs(jobs);
    const int shared = probe::prepare_one_cta_per_sm(copy_kernel<Copies>) - kSharedAlignment;
    return bytes_of_sms(roles, "copying for a while", [&](Meeting* meeting, unsigned long long* bytes) {
        copy_kernel<<<static_cast<unsigned>(roles.sms()), 32, static_cast<std::size_t>(shared)>>>(
            copies, device_jobs.get(), duration_ns, roles.device(), roles.participants(), meeting, bytes);
    });
}

BoxCopies boxes_of(const void* buffer, std::span<const CopyJob> jobs, int columns) {
    std::int64_t end = 0;
    for (const CopyJob& job : jobs) end = std::max(end, job.first_byte + job.bytes);
    const int row_bytes = columns * BoxCopies::kRowBytes;
    return {tile_map(buffer, end / row_bytes, row_bytes / 2, BoxCopies::kRows), columns};
}

}  // namespace

void read_items(const void* buffer, const ReadItem* items, int count, Share share, const DeviceRoles& roles) {
    const int shared = probe::prepare_one_cta_per_sm(item_kernel);
    item_kernel<<<static_cast<unsigned>(roles.sms()), kItemThreads, static_cast<std::size_t>(shared)>>>(
        static_cast<const char*>(buffer), items, count, share == Share::Split ? roles.participants() : 1,
        roles.device());
    check_launch("reading items");
}

std::vector<std::uint64_t> copy_for_a_while(const void* buffer, std::span<const CopyJob> jobs, CopyWith with,
                                            std::int64_t duration_ns, const DeviceRoles& roles) {
    constexpr int kColumns = kCopyBytes / BoxCopies::kRowBytes;
    if (with == CopyWith::Boxes) return copy_with(boxes_of(buffer, jobs, 1), jobs, duration_ns, roles);
    if (with == CopyWith::BoxesOfRows)
        return copy_with(boxes_of(buffer, jobs, kColumns), jobs, duration_ns, roles);
    return copy_with(BulkCopies{static_cast<const char*>(buffer)}, jobs, duration_ns, roles);
}

std::vector<std::uint64_t> store_for_a_while(void* buffer, std::int64_t region_bytes,
                                             std::int64_t duration_ns, const DeviceRoles& roles) {
    const int shared = probe::prepare_one_cta_per_sm(store_kernel) - kSharedAlignment;
    return bytes_of_sms(roles, "storing for a while", [&](Meeting* meeting, unsigned long long* bytes) {
        store_kernel<<<static_cast<unsigned>(roles.sms()), 32, static_cast<std::size_t>(shared)>>>(
            static_cast<char*>(buffer), region_bytes, duration_ns, roles.device(), roles.participants(),
            meeting, bytes);
    });
}

}  // namespace l2lens::gpu
