// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_port_clock: what the SMs of one GPC, of a side's and of all read from the L2 while tensor cores
// are idle and while they slow the SMs' clock down, as rows of traces/h200/port_clock.csv (its README says
// what the columns are).
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <string>
#include <vector>

#include <cuda.h>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/tensor_map.hpp"
#include "gpu/kernels/wgmma.cuh"
#include "gpu/probe/bench.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/copy_ring.cuh"
#include "gpu/tests/meeting.cuh"
#include "gpu/tests/row_boxes.hpp"

using namespace l2lens;
using namespace l2lens::gpu;
using namespace l2lens::gpu::row_boxes;

namespace {

// Each SM has as many rows of the matrix as a box has, and asks for boxes of their first columns.
constexpr int kMostInFlight = 6;

constexpr int kMathThreads = 128;               // a warpgroup; one more warp reads
constexpr int kBlockBytes = 64 * 64 * 2;        // 64 rows of 128 B
constexpr int kOperandBytes = 5 * kBlockBytes;  // 64 rows of A, 256 of B
constexpr int kMmasOfStep = 8;

constexpr long long kSettlesNs = 150'000'000;  // until the clock is what the power leaves
constexpr long long kCountedNs = 20'000'000;

struct Job {
    CUtensorMap boxes;
    const int* reads;     // by SM: its number among those that read, or -1
    const int* computes;  // by SM: the same
    int in_flight;
    int participants;
    Meeting* meeting;
    unsigned long long* copied;  // bytes while counted, by SM
    long long* cycles;           // SM cycles while counted, by SM
    float* sink;
};

__device__ void read(const Job& job, int sm, std::uint32_t to, std::uint64_t* barriers, long long from,
                     long long until) {
    CopyRing ring(barriers, job.in_flight);
    int across = 0;
    const auto start_next = [&](int slot, std::uint32_t barrier) {
        hopper::barrier_expect_bytes(barrier, kBoxBytes);
        hopper::load_box(&job.boxes, to + static_cast<std::uint32_t>(slot) * kBoxBytes, barrier,
                         across * kBoxColumns, sm * kBoxRows);
        across = across + 1 == kResidentBoxes ? 0 : across + 1;
    };
    ring.begin(start_next);
    while (global_timer() < from) ring.turn(start_next);
    const long long begin = clock64();
    unsigned long long boxes = 0;
    for (; global_timer() < until; ++boxes) ring.turn(start_next);
    job.cycles[sm] = clock64() - begin;
    job.copied[sm] = boxes * kBoxBytes;
    ring.finish();
}

__device__ void compute(const Job& job, int sm, std::uint32_t operands, long long until) {
    const std::uint64_t a = hopper::matrix_descriptor<true>(operands, kBlockBytes);
    const std::uint64_t b = hopper::matrix_descriptor<true>(operands + kBlockBytes, kBlockBytes);
    float sums[128] = {};
    while (global_timer() < until) {
        hopper::wgmma_fence();
#pragma unroll
        for (int i = 0; i < kMmasOfStep; ++i) hopper::Wgmma<256, true, true>::mma(sums, a, b, 1);
        hopper::wgmma_commit();
        hopper::wgmma_wait<0>();
    }
    float sum = 0;
    for (const float s : sums) sum += s;
    job.sink[sm * kMathThreads + static_cast<int>(threadIdx.x)] = sum;
}

// Numbers of all sizes from 1 to 2, of either sign: bits that change, as those of random data do.
__device__ void fill_operands(std::uint8_t* operands) {
    auto* words = reinterpret_cast<std::uint32_t*>(operands);
    for (int i = static_cast<int>(threadIdx.x); i < kOperandBytes / 4; i += static_cast<int>(blockDim.x)) {
        std::uint32_t random = static_cast<std::uint32_t>(i) * 2654435761u;
        random ^= random >> 15;
        random *= 2246822519u;
        random ^= random >> 13;
        words[i] = (random & 0x807f807fu) | 0x3f803f80u;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__global__ void port_kernel(const __grid_constant__ Job job) {
    extern __shared__ std::uint8_t raw[];
    __shared__ std::uint64_t barriers[kMostInFlight];
    __shared__ long long start;
    const auto sm = static_cast<int>(sm_id());
    const std::uint32_t base = hopper::shared_address(raw);
    const std::uint32_t aligned = (base + kAlignment - 1) / kAlignment * kAlignment;
    fill_operands(raw + (aligned - base));
    if (threadIdx.x == 0) start = meet(job.meeting, sm, job.participants);
    __syncthreads();
    const long long from = start + kSettlesNs;
    if (threadIdx.x < kMathThreads) {
        if (job.computes[sm] >= 0) compute(job, sm, aligned, from + kCountedNs);
    } else if (threadIdx.x == kMathThreads && job.reads[sm] >= 0) {
        read(job, sm, aligned + (kOperandBytes + kAlignment - 1) / kAlignment * kAlignment, barriers, from,
             from + kCountedNs);
    }
}

void record(const ProbeBench& bench, const std::string& set, const std::vector<std::size_t>& gpcs,
            const std::string& math, int in_flight) {
    std::vector<int> reading, computing;
    for (const std::size_t gpc : gpcs)
        reading.insert(reading.end(), bench.gpcs[gpc].begin(), bench.gpcs[gpc].end());
    for (int sm = 0; sm < bench.sms() && math != "none"; ++sm)
        if (math == "all" || std::find(reading.begin(), reading.end(), sm) == reading.end())
            computing.push_back(sm);
    const DeviceRoles reads(Roles::of(reading, bench.sms()));
    const DeviceRoles computes(Roles::of(computing, bench.sms()));
    const auto sms = static_cast<std::size_t>(bench.sms());
    DeviceBuffer<Meeting> meeting(1);
    DeviceBuffer<unsigned long long> copied(sms);
    DeviceBuffer<long long> cycles(sms);
    const DeviceBuffer<float> sink(sms * kMathThreads);
    meeting.fill_bytes(0);
    copied.fill_bytes(0);
    cycles.fill_bytes(0);
    const Job job{
        tile_map(bench.buffer(), static_cast<std::int64_t>(bench.sms()) * kBoxRows, kColumns, kBoxRows),
        reads.device(),
        computes.device(),
        in_flight,
        bench.sms(),
        meeting.get(),
        copied.get(),
        cycles.get(),
        sink.get()};
    const int shared = probe::prepare_one_cta_per_sm(port_kernel) - kAlignment;
    port_kernel<<<static_cast<unsigned>(bench.sms()), kMathThreads + 32, static_cast<std::size_t>(shared)>>>(
        job);
    check_launch("reading beside tensor cores");
    const std::vector<unsigned long long> bytes = copied.to_host();
    const std::vector<long long> clocks = cycles.to_host();
    for (const std::size_t gpc : gpcs) {
        double of_gpc = 0, ghz = 0;
        for (const int sm : bench.gpcs[gpc]) {
            of_gpc += static_cast<double>(bytes[static_cast<std::size_t>(sm)]) / kCountedNs;
            ghz += static_cast<double>(clocks[static_cast<std::size_t>(sm)]) / kCountedNs;
        }
        const auto of = bench.gpcs[gpc].size();
        std::printf("%s,%s,%d,%zu,%zu,%.0f,%.3f\n", set.c_str(), math.c_str(), in_flight, gpc, of, of_gpc,
                    ghz / static_cast<double>(of));
    }
    std::fflush(stdout);
}

std::vector<std::size_t> all_gpcs(const ProbeBench& bench) {
    std::vector<std::size_t> all(bench.gpcs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    return all;
}

void record_all(const ProbeBench& bench) {
    std::printf("set,math,in_flight,gpc,sms,bytes_per_ns,sm_ghz\n");
    for (const int in_flight : {2, 3, 6})
        for (const char* const math : {"none", "others", "all"}) {
            record(bench, "one_gpc", {0}, math, in_flight);
            record(bench, "one_gpc", {bench.gpcs.size() - 1}, math, in_flight);
            if (std::string(math) != "others") record(bench, "all", all_gpcs(bench), math, in_flight);
        }
}

}  // namespace

int main(int count, char**) {
    try {
        if (count > 1) throw BadInput("l2lens_gpu_port_clock takes no word");
        ProbeBench bench;
        if (!bench.has_clusters()) throw Unavailable("tensor boxes need compute capability 9.0 or newer");
        probe_sides(bench);
        record_all(bench);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "l2lens_gpu_port_clock: %s\n", error.what());
        return static_cast<int>(error.code());
    }
}
