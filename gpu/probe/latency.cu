// SPDX-License-Identifier: Apache-2.0
// How long does one access take?
#include "gpu/device_buffer.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/probe/kernels.hpp"

namespace l2lens::gpu {
namespace {

constexpr int kAtomics = 6;  // per address, the first one apart: it may wait for a translation

__global__ void atomic_kernel(char* buffer, const std::uint64_t* offsets, std::size_t count, float* cycles,
                              const int* roles) {
    extern __shared__ char unused[];
    if (roles[sm_id()] != 0 || threadIdx.x != 0) return;
    for (std::size_t i = 0; i < count; ++i) {
        auto* word = reinterpret_cast<unsigned*>(buffer + offsets[i]);
        unsigned chain = atomicAdd(word, 0u);
        if (chain != 0) return;  // the buffer holds zeros; asking for the value waits for it
        const long long start = clock64();
        for (int j = 0; j < kAtomics; ++j) chain = atomicAdd(word + chain, 0u);
        if (chain != 0) return;
        const long long end = clock64();
        cycles[i] = static_cast<float>(end - start) / kAtomics;
    }
}

__device__ unsigned load_past_l1(const void* at) {
    unsigned value;
    asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(value) : "l"(at) : "memory");
    return value;
}

__global__ void load_kernel(const char* buffer, const std::uint64_t* offsets, std::size_t count,
                            float* cycles, const int* roles) {
    extern __shared__ char unused[];
    if (roles[sm_id()] != 0 || threadIdx.x != 0) return;
    for (std::size_t i = 0; i < count; ++i) {
        // The other half of the 64 KiB around it: one page on every GPU, another line, another DRAM fetch.
        if (load_past_l1(buffer + (offsets[i] ^ 32768)) != 0)
            return;  // zeros; asking for the value waits for it
        const char* at = buffer + offsets[i];
        const long long start = clock64();
        if (load_past_l1(at) != 0) return;
        const long long end = clock64();
        cycles[i] = static_cast<float>(end - start);
    }
}

std::vector<double> to_doubles(const DeviceBuffer<float>& values) {
    const auto host = values.to_host();
    return {host.begin(), host.end()};
}

}  // namespace

std::vector<double> atomic_cycles(void* buffer, const std::vector<std::uint64_t>& offsets,
                                  const Roles& roles) {
    const int shared = probe::prepare_one_cta_per_sm(atomic_kernel);
    const DeviceBuffer<std::uint64_t> where{std::span(offsets)};
    const DeviceBuffer<int> who{std::span(roles.role_of_sm())};
    DeviceBuffer<float> cycles(offsets.size());
    atomic_kernel<<<static_cast<unsigned>(roles.sms()), 32, static_cast<std::size_t>(shared)>>>(
        static_cast<char*>(buffer), where.get(), offsets.size(), cycles.get(), who.get());
    check_launch("the atomic latency probe");
    return to_doubles(cycles);
}

std::vector<double> load_cycles(const void* buffer, const std::vector<std::uint64_t>& offsets,
                                const Roles& roles) {
    const int shared = probe::prepare_one_cta_per_sm(load_kernel);
    const DeviceBuffer<std::uint64_t> where{std::span(offsets)};
    const DeviceBuffer<int> who{std::span(roles.role_of_sm())};
    DeviceBuffer<float> cycles(offsets.size());
    load_kernel<<<static_cast<unsigned>(roles.sms()), 32, static_cast<std::size_t>(shared)>>>(
        static_cast<const char*>(buffer), where.get(), offsets.size(), cycles.get(), who.get());
    check_launch("the load latency probe");
    return to_doubles(cycles);
}

}  // namespace l2lens::gpu
