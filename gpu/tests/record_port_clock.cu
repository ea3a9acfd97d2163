// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_port_clock: what the SMs of one GPC and of all read from the L2 while tensor cores are idle and
// while they slow the SMs' clock down, as rows of traces/h200/port_clock.csv (its README says what the
// columns are).
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
#include "gpu/probe/bench.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/copy_ring.cuh"
#include "gpu/tests/math_steps.cuh"
#include "gpu/tests/meeting.cuh"
#include "gpu/tests/recorder.hpp"
#include "gpu/tests/row_boxes.cuh"

using namespace l2lens;
using namespace l2lens::gpu;
using namespace l2lens::gpu::row_boxes;

namespace {

constexpr int kMostInFlight = 6;

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
    ResidentWalk start_next(job.boxes, kBoxBytes, sm * kBoxRows, to);
    ring.begin(start_next);
    while (global_timer() < from) ring.turn(start_next);
    const long long begin = clock64();
    unsigned long long boxes = 0;
    for (; global_timer() < until; ++boxes) ring.turn(start_next);
    job.cycles[sm] = clock64() - begin;
    job.copied[sm] = boxes * kBoxBytes;
    ring.finish();
}

__global__ void port_kernel(const __grid_constant__ Job job) {
    extern __shared__ std::uint8_t raw[];
    __shared__ std::uint64_t barriers[kMostInFlight];
    __shared__ long long start;
    const auto sm = static_cast<int>(sm_id());
    const std::uint32_t operands = math_steps::place_operands(raw);
    if (threadIdx.x == 0) start = meet(job.meeting, sm, job.participants);
    __syncthreads();
    const long long from = start + kSettlesNs;
    const long long until = from + kCountedNs;
    if (threadIdx.x < math_steps::kThreads) {
        if (job.computes[sm] >= 0)
            math_steps::run(
                operands, job.sink + sm * math_steps::kThreads, [&] { return global_timer() >= until; },
                [] {});
    } else if (threadIdx.x == math_steps::kThreads && job.reads[sm] >= 0) {
        read(job, sm, operands + math_steps::kOperandBytes, barriers, from, until);
    }
}

struct Counted {
    std::vector<unsigned long long> bytes;  // by SM
    std::vector<long long> cycles;          // by SM
};

Counted count(const ProbeBench& bench, const std::vector<int>& reading, const std::vector<int>& computing,
              int in_flight) {
    const DeviceRoles reads(Roles::of(reading, bench.sms()));
    const DeviceRoles computes(Roles::of(computing, bench.sms()));
    const auto sms = static_cast<std::size_t>(bench.sms());
    DeviceBuffer<Meeting> meeting(1);
    DeviceBuffer<unsigned long long> copied(sms);
    DeviceBuffer<long long> cycles(sms);
    const DeviceBuffer<float> sink(sms * math_steps::kThreads);
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
    port_kernel<<<static_cast<unsigned>(bench.sms()), math_steps::kThreads + 32,
                  static_cast<std::size_t>(shared)>>>(job);
    check_launch("reading beside tensor cores");
    return {copied.to_host(), cycles.to_host()};
}

// The SMs of these GPCs read.
void record(const ProbeBench& bench, const std::string& set, const std::vector<std::size_t>& gpcs,
            const std::string& math, int in_flight) {
    std::vector<int> reading, computing;
    for (const std::size_t gpc : gpcs)
        reading.insert(reading.end(), bench.gpcs[gpc].begin(), bench.gpcs[gpc].end());
    for (int sm = 0; sm < bench.sms() && math != "none"; ++sm)
        if (math == "all" || std::find(reading.begin(), reading.end(), sm) == reading.end())
            computing.push_back(sm);
    const Counted counted = count(bench, reading, computing, in_flight);
    for (const std::size_t gpc : gpcs) {
        double bytes_per_ns = 0, ghz = 0;
        for (const int sm : bench.gpcs[gpc]) {
            bytes_per_ns += static_cast<double>(counted.bytes[static_cast<std::size_t>(sm)]) / kCountedNs;
            ghz += static_cast<double>(counted.cycles[static_cast<std::size_t>(sm)]) / kCountedNs;
        }
        const auto sms = bench.gpcs[gpc].size();
        std::printf("%s,%s,%d,%zu,%zu,%.0f,%.3f\n", set.c_str(), math.c_str(), in_flight, gpc, sms,
                    bytes_per_ns, ghz / static_cast<double>(sms));
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
    return run_recorder("l2lens_gpu_port_clock", count, [](ProbeBench& bench) {
        if (!bench.has_clusters()) throw Unavailable("tensor boxes need compute capability 9.0 or newer");
        probe_limits(bench);
        probe_topology(bench);
        record_all(bench);
    });
}
