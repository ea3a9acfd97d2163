// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_mma_issue: how fast a warpgroup hands MMAs to the tensor cores, as rows of
// traces/h200/mma_issue.csv, and with the word `pair` when two that wait for their MMAs and for each other go
// on, as rows of mma_pair.csv (its README says what the columns are). Nothing else runs, operands are in
// shared memory.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/wgmma.cuh"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

constexpr int kThreads = 128;             // of a warpgroup
constexpr int kBlockBytes = 64 * 64 * 2;  // 64 rows of 128 B
constexpr int kShared = 8 * kBlockBytes;  // A's 64 rows, B's up to 256, and room to align
constexpr int kRounds = 3;                // the last one counts

struct Operands {
    std::uint64_t a, b;  // descriptors
};
__device__ Operands operands_in_shared_memory() {
    extern __shared__ std::uint8_t raw[];
    const std::uint32_t base = (hopper::shared_address(raw) + 1023) / 1024 * 1024;
    return {hopper::matrix_descriptor<true>(base, kBlockBytes),
            hopper::matrix_descriptor<true>(base + kBlockBytes, kBlockBytes)};
}

// Hands a step of `Mmas` to the tensor cores.
template <int N, int Mmas>
__device__ __forceinline__ void issue(float (&sums)[N / 2], const Operands& operands) {
    hopper::wgmma_fence();
#pragma unroll
    for (int i = 0; i < Mmas; ++i) hopper::Wgmma<N, true, true>::mma(sums, operands.a, operands.b, 1);
    hopper::wgmma_commit();
}

// So that nothing of it is left out.
template <int Count>
__device__ float total(const float (&sums)[Count]) {
    float sum = 0;
    for (const float s : sums) sum += s;
    return sum;
}

// SM cycles since the first MMA of two steps.
struct Cycles {
    long long first_issued, second_issued, first_retired, second_retired;
};

template <int N, int Mmas>
__global__ void two_steps(Cycles* cycles, float* sink) {
    const Operands operands = operands_in_shared_memory();
    float sums[N / 2] = {};
    for (int round = 0; round < kRounds; ++round) {
        const auto step = [&] {
            issue<N, Mmas>(sums, operands);
            return clock64();
        };
        const long long begin = clock64();
        Cycles seen{};
        seen.first_issued = step() - begin;
        seen.second_issued = step() - begin;
        hopper::wgmma_wait<1>();
        seen.first_retired = clock64() - begin;
        hopper::wgmma_wait<0>();
        seen.second_retired = clock64() - begin;
        if (threadIdx.x == 0) *cycles = seen;
    }
    sink[threadIdx.x] = total(sums);
}

template <int N, int Mmas>
void record() {
    const DeviceBuffer<Cycles> cycles(1);
    const DeviceBuffer<float> sink(kThreads);
    check_cuda(cudaFuncSetAttribute(two_steps<N, Mmas>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
               "asking for shared memory");
    two_steps<N, Mmas><<<1, kThreads, kShared>>>(cycles.get(), sink.get());
    Cycles seen{};
    check_cuda(cudaMemcpy(&seen, cycles.get(), sizeof seen, cudaMemcpyDeviceToHost), "timing MMAs");
    std::printf("%d,%d,%d,%lld,%lld,%lld,%lld\n", N, Mmas, Mmas * N / 2, seen.first_issued,
                seen.second_issued, seen.first_retired, seen.second_retired);
}

// SM cycles since two warpgroups began a step of as many MMAs each: until one's have retired, and until both
// have met at a barrier behind theirs, as in a loop that has one step under way.
struct PairCycles {
    long long retired[2], joined[2];
};

template <int N, int Mmas>
__global__ void step_of_a_pair(PairCycles* cycles, float* sink) {
    const Operands operands = operands_in_shared_memory();
    float sums[N / 2] = {};
    for (int round = 0; round < kRounds; ++round) {
        __syncthreads();
        const long long begin = clock64();
        issue<N, Mmas>(sums, operands);
        hopper::wgmma_wait<0>();
        const long long retired = clock64() - begin;
        __syncthreads();
        const long long joined = clock64() - begin;
        if (threadIdx.x % kThreads == 0) {
            cycles->retired[threadIdx.x / kThreads] = retired;
            cycles->joined[threadIdx.x / kThreads] = joined;
        }
    }
    sink[threadIdx.x] = total(sums);
}

template <int N, int Mmas>
void record_pair() {
    const DeviceBuffer<PairCycles> cycles(1);
    const DeviceBuffer<float> sink(2 * kThreads);
    check_cuda(
        cudaFuncSetAttribute(step_of_a_pair<N, Mmas>, cudaFuncAttributeMaxDynamicSharedMemorySize, kShared),
        "asking for shared memory");
    step_of_a_pair<N, Mmas><<<1, 2 * kThreads, kShared>>>(cycles.get(), sink.get());
    PairCycles seen{};
    check_cuda(cudaMemcpy(&seen, cycles.get(), sizeof seen, cudaMemcpyDeviceToHost), "timing MMAs");
    const auto [first, second] = std::minmax(seen.retired[0], seen.retired[1]);
    std::printf("%d,%d,%d,%lld,%lld,%lld\n", N, Mmas, Mmas * N, first, second,
                std::max(seen.joined[0], seen.joined[1]));
}

void record_pairs() {
    std::printf("n,mmas,math_cycles,first_retired,second_retired,joined\n");
    record_pair<64, 4>();
    record_pair<128, 1>();
    record_pair<128, 2>();
    record_pair<128, 4>();
    record_pair<128, 8>();
    record_pair<256, 1>();
    record_pair<256, 2>();
    record_pair<256, 4>();
    record_pair<256, 8>();
}

}  // namespace

int main(int count, char** words) {
    try {
        const bool pair = count == 2 && std::string_view(words[1]) == "pair";
        if (count > 1 && !pair) throw BadInput("l2lens_gpu_mma_issue takes the word pair, or none");
        if (pair) {
            record_pairs();
            return 0;
        }
        std::printf("n,mmas,math_cycles,first_issued,second_issued,first_retired,second_retired\n");
        record<64, 1>();
        record<64, 2>();
        record<64, 4>();
        record<64, 8>();
        record<128, 1>();
        record<128, 2>();
        record<128, 4>();
        record<128, 8>();
        record<128, 16>();
        record<256, 1>();
        record<256, 2>();
        record<256, 4>();
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
