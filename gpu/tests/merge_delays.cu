// SPDX-License-Identifier: Apache-2.0
#include "gpu/device_buffer.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/meeting.cuh"
#include "gpu/tests/merge_delays.hpp"

namespace l2lens::gpu {
namespace {

__device__ unsigned load_past_l1(const char* at) {
    uint4 v;
    asm volatile("ld.global.cg.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(at)
                 : "memory");
    return v.x | v.y | v.z | v.w;
}

// Nobody wants the values, and the buffer holds zeros.
__device__ void want(unsigned values) {
    constexpr unsigned kNeverThere = 0x5EED5EED;
    if (values == kNeverThere) __trap();
}

__device__ void wait_until(long long ns) {
    while (global_timer() < ns) {
    }
    __syncwarp();
}

// A warp an SM and 512 B a round; the GPU's timer, of 32 ns a tick, begins the rounds of both.
__global__ void pair_kernel(const char* buffer, const std::uint64_t* offsets, int rounds, int delay_cycles,
                            bool resident, const int* roles, Meeting* meeting) {
    extern __shared__ char unused[];
    constexpr long long kPeriodNs = 8192;
    constexpr long long kHalfNs = kPeriodNs / 2;
    const int role = roles[sm_id()];
    if (role < 0) return;
    constexpr unsigned kAllLanes = ~0u;
    const long long start = __shfl_sync(kAllLanes, threadIdx.x == 0 ? meet(meeting, role, 2) : 0, 0);
    for (int round = 0; round < rounds; ++round) {
        const char* from = buffer + offsets[round] + threadIdx.x * 16;
        wait_until(start + round * kPeriodNs);
        if (resident && role == 0) want(load_past_l1(from));
        wait_until(start + round * kPeriodNs + kHalfNs);
        const long long now = clock64();
        while (role == 1 && clock64() < now + delay_cycles) {
        }
        __syncwarp();
        want(load_past_l1(from));
    }
}

}  // namespace

void load_in_pairs(const void* buffer, const Pairs& pairs, const DeviceRoles& roles) {
    static const DeviceBuffer<Meeting> meeting(1);
    static DeviceBuffer<std::uint64_t> offsets{std::span(pairs.offsets)};  // a launch may still read them
    offsets = DeviceBuffer<std::uint64_t>{std::span(pairs.offsets)};
    check_cuda(cudaMemsetAsync(meeting.get(), 0, meeting.bytes()), "resetting the rendezvous");
    const int shared = probe::prepare_one_cta_per_sm(pair_kernel);
    pair_kernel<<<static_cast<unsigned>(roles.sms()), 32, static_cast<std::size_t>(shared)>>>(
        static_cast<const char*>(buffer), offsets.get(), static_cast<int>(pairs.offsets.size()),
        pairs.delay_cycles, pairs.resident, roles.device(), meeting.get());
    check_launch("loading in pairs");
}

}  // namespace l2lens::gpu
