// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_waits: how long a small box takes while the SMs of one GPC and of more keep boxes under way, as
// rows of traces/h200/waits.csv (its README says what the columns are). The L2 has all of it.
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
#include "gpu/tests/busy_boxes.cuh"
#include "gpu/tests/meeting.cuh"
#include "gpu/tests/recorder.hpp"
#include "gpu/tests/row_boxes.cuh"

using namespace l2lens;
using namespace l2lens::gpu;
using namespace l2lens::gpu::row_boxes;

namespace {

// Each SM has as many rows of the matrix as a box has, and asks for boxes of their first columns.
constexpr int kSmallRows = 8;  // of a box that is timed

constexpr int kMostInFlight = 12;
constexpr int kTimed = 4000;
constexpr int kUntimed = 500;  // before them

struct Job {
    CUtensorMap small_boxes;
    BusyBoxes busy;
    int timing;  // the first roles time small boxes
    int participants;
    const int* roles;
    Meeting* meeting;
    float* cycles;  // [role][kTimed]
};

// One after the other, from another place and another moment each time.
__device__ void time_small_boxes(const Job& job, int role, std::uint32_t to, std::uint32_t barrier) {
    std::uint32_t random = static_cast<std::uint32_t>(role) * 77 + 5;
    std::uint32_t parity = 0;
    for (int i = -kUntimed; i < kTimed; ++i) {
        random = random * 1664525u + 1013904223u;  // Numerical Recipes' generator
        for (const long long begin = clock64(), pause = random >> 23; clock64() < begin + pause;) {
        }
        const auto across = static_cast<int>((random >> 10) % kResidentBoxes);
        const auto down = static_cast<int>((random >> 16) % (kBoxRows / kSmallRows));
        const long long begin = clock64();
        hopper::barrier_expect_bytes(barrier, kSmallRows * kRowBytes);
        hopper::load_box(&job.small_boxes, to, barrier, across * kBoxColumns,
                         role * kBoxRows + down * kSmallRows);
        hopper::barrier_wait(barrier, parity);
        parity ^= 1;
        if (i >= 0) job.cycles[role * kTimed + i] = static_cast<float>(clock64() - begin);
    }
    __threadfence();
    atomicAdd(job.busy.finished, 1u);
}

__global__ void wait_kernel(const __grid_constant__ Job job) {
    extern __shared__ std::uint8_t raw[];
    __shared__ std::uint64_t barriers[kMostInFlight];
    const int role = job.roles[sm_id()];
    if (role < 0 || threadIdx.x != 0) return;
    const std::uint32_t to = (hopper::shared_address(raw) + kAlignment - 1) / kAlignment * kAlignment;
    const std::uint32_t own = hopper::shared_address(&barriers[0]);
    if (role < job.timing) {
        hopper::barrier_init(own, 1);
        hopper::barrier_init_fence();
    }
    const long long start = meet(job.meeting, role, job.participants);
    while (global_timer() < start) {
    }
    if (role < job.timing) {
        time_small_boxes(job, role, to, own);
    } else if (job.busy.in_flight > 0) {
        keep_busy(job.busy, role, to, barriers);
    }
}

struct Waits {
    std::vector<std::vector<float>> cycles;  // sorted, by who times
    double bytes_per_ns = 0;                 // of all that keep the L2 busy
};

// `timing` SMs time small boxes while `busy` ones keep the L2 busy.
Waits time_waits(const ProbeBench& bench, const std::vector<int>& timing, const std::vector<int>& busy,
                 int in_flight, int rows) {
    std::vector<int> sms = timing;
    sms.insert(sms.end(), busy.begin(), busy.end());
    const DeviceRoles roles(Roles::of(sms, bench.sms()));
    const auto matrix_rows = static_cast<std::int64_t>(bench.sms()) * kBoxRows;
    DeviceBuffer<Meeting> meeting(1);
    DeviceBuffer<unsigned> finished(1);
    const DeviceBuffer<float> cycles(timing.size() * kTimed);
    DeviceBuffer<unsigned long long> copied(sms.size());
    DeviceBuffer<long long> lasted(sms.size());
    copied.fill_bytes(0);
    lasted.fill_bytes(0);
    const BusyBoxes boxes{tile_map(bench.buffer(), matrix_rows, kColumns, rows),
                          in_flight,
                          rows,
                          static_cast<unsigned>(timing.size()),
                          finished.get(),
                          copied.get(),
                          lasted.get()};
    const Job job{tile_map(bench.buffer(), matrix_rows, kColumns, kSmallRows),
                  boxes,
                  static_cast<int>(timing.size()),
                  roles.participants(),
                  roles.device(),
                  meeting.get(),
                  cycles.get()};
    const int shared = probe::prepare_one_cta_per_sm(wait_kernel) - kAlignment;
    constexpr int kRounds = 2;  // the second one finds all in the L2
    for (int round = 0; round < kRounds; ++round) {
        meeting.fill_bytes(0);
        finished.fill_bytes(0);
        wait_kernel<<<static_cast<unsigned>(bench.sms()), 32, static_cast<std::size_t>(shared)>>>(job);
        check_launch("timing boxes");
    }
    Waits waits;
    const std::vector<float> all = cycles.to_host();
    for (std::size_t i = 0; i < timing.size(); ++i) {
        const auto first = all.begin() + static_cast<std::ptrdiff_t>(i * kTimed);
        waits.cycles.emplace_back(first, first + kTimed);
        std::sort(waits.cycles.back().begin(), waits.cycles.back().end());
    }
    waits.bytes_per_ns = rate_of(copied, lasted);
    return waits;
}

// The last SM of each GPC times boxes; of the GPCs `busy` the others copy.
void record(const ProbeBench& bench, const std::string& set, const std::vector<std::size_t>& busy,
            int in_flight, int rows) {
    std::vector<int> timing, copying;
    for (const std::vector<int>& gpc : bench.gpcs) timing.push_back(gpc.back());
    for (const std::size_t gpc : busy)
        copying.insert(copying.end(), bench.gpcs[gpc].begin(), bench.gpcs[gpc].end() - 1);
    const Waits waits = time_waits(bench, timing, copying, in_flight, rows);
    const int side = bench.partition_of_sm[static_cast<std::size_t>(timing[busy.front()])];
    for (std::size_t gpc = 0; gpc < timing.size(); ++gpc) {
        const std::vector<float>& cycles = waits.cycles[gpc];
        const bool own = std::find(busy.begin(), busy.end(), gpc) != busy.end();
        const bool near = bench.partition_of_sm[static_cast<std::size_t>(timing[gpc])] == side;
        const char* const where = own ? "own" : (near ? "near" : "far");
        std::printf("%s,%d,%d,%zu,%.0f,%zu,%s,%.1f", set.c_str(), in_flight, rows, copying.size(),
                    waits.bytes_per_ns, gpc, where,
                    std::accumulate(cycles.begin(), cycles.end(), 0.0) / kTimed / bench.sm_ghz());
        for (const double share : {0.1, 0.5, 0.9, 0.99})
            std::printf(",%.0f", cycles[static_cast<std::size_t>(share * kTimed)] / bench.sm_ghz());
        std::printf("\n");
    }
    std::fflush(stdout);
}

// The GPCs on the side of the first one, itself first.
std::vector<std::size_t> gpcs_of_a_side(const ProbeBench& bench) {
    const auto side = [&](std::size_t gpc) {
        return bench.partition_of_sm[static_cast<std::size_t>(bench.gpcs[gpc].front())];
    };
    std::vector<std::size_t> gpcs;
    for (std::size_t gpc = 0; gpc < bench.gpcs.size(); ++gpc)
        if (side(gpc) == side(0)) gpcs.push_back(gpc);
    return gpcs;
}

void record_all(const ProbeBench& bench) {
    struct Boxes {
        int in_flight, rows;
    };
    const std::vector<Boxes> loads{{0, 128}, {1, 128}, {2, 64},  {2, 96},  {2, 128}, {3, 96},
                                   {3, 128}, {4, 128}, {5, 128}, {6, 128}, {8, 128}, {12, 128}};
    const std::vector<std::size_t> side = gpcs_of_a_side(bench);
    std::vector<std::size_t> all(bench.gpcs.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    std::printf("set,in_flight,rows,sms,bytes_per_ns,gpc,where,mean_ns,p10_ns,p50_ns,p90_ns,p99_ns\n");
    for (const Boxes& boxes : loads) {
        record(bench, "one_gpc", {side[0]}, boxes.in_flight, boxes.rows);
        record(bench, "all_but_one_of_a_side", {side.begin(), side.end() - 1}, boxes.in_flight, boxes.rows);
        record(bench, "all", all, boxes.in_flight, boxes.rows);
    }
}

}  // namespace

int main(int count, char**) {
    return run_recorder("l2lens_gpu_waits", count, [](ProbeBench& bench) {
        if (!bench.has_clusters()) throw Unavailable("tensor boxes need compute capability 9.0 or newer");
        probe_sides(bench);
        record_all(bench);
    });
}
