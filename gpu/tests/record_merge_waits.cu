// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_merge_waits: how much later may a second SM ask for the same lines, so that its requests join
// the first one's, while the other SMs of the GPC read more than its ways from the L2 take? As rows of
// traces/h200/merge_waits.csv (its README says what the columns are). The L2 has all of it.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <utility>
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

constexpr int kPair = 2;        // roles 0 and 1 ask for the same boxes, the others keep the ways full
constexpr int kPairRows = 64;   // of a box of theirs
constexpr int kSomeOthers = 8;  // SMs, which fill the ways alone
constexpr int kRounds = 400;
constexpr int kUntimed = 20;      // before them, over all of their boxes
constexpr int kMostInFlight = 8;  // less than kResidentBoxes: no box twice

struct Job {
    CUtensorMap pair_boxes;
    BusyBoxes busy;
    int delay_cycles;
    int participants;
    const int* roles;
    Meeting* meeting;
    double* cycles;  // of a box in the mean, by role of the pair
};

// A box a round, each of the same rows: the GPU's timer, of 32 ns a tick, begins the rounds of both.
__device__ void ask_in_pairs(const Job& job, int role, long long start, std::uint32_t to,
                             std::uint32_t barrier) {
    constexpr long long kPeriodNs = 6144;
    double cycles = 0;
    std::uint32_t parity = 0;
    for (int round = -kUntimed; round < kRounds; ++round) {
        const int box = (round + kUntimed) % (kResidentBoxes * (kBoxRows / kPairRows));
        while (global_timer() < start + (round + kUntimed) * kPeriodNs) {
        }
        const long long now = clock64();
        while (role == 1 && clock64() < now + job.delay_cycles) {
        }
        const long long begin = clock64();
        hopper::barrier_expect_bytes(barrier, kPairRows * kRowBytes);
        hopper::load_box(&job.pair_boxes, to, barrier, box % kResidentBoxes * kBoxColumns,
                         box / kResidentBoxes * kPairRows);
        hopper::barrier_wait(barrier, parity);
        parity ^= 1;
        if (round >= 0) cycles += static_cast<double>(clock64() - begin);
    }
    job.cycles[role] = cycles / kRounds;
    __threadfence();
    atomicAdd(job.busy.finished, 1u);
}

__global__ void pair_kernel(const __grid_constant__ Job job) {
    extern __shared__ std::uint8_t raw[];
    __shared__ std::uint64_t barriers[kMostInFlight];
    const int role = job.roles[sm_id()];
    if (role < 0 || threadIdx.x != 0) return;
    const std::uint32_t to = (hopper::shared_address(raw) + kAlignment - 1) / kAlignment * kAlignment;
    const std::uint32_t own = hopper::shared_address(&barriers[0]);
    if (role < kPair) {
        hopper::barrier_init(own, 1);
        hopper::barrier_init_fence();
    }
    const long long start = meet(job.meeting, role, job.participants);
    if (role < kPair) {
        ask_in_pairs(job, role, start, to, own);
    } else if (job.busy.in_flight > 0) {
        keep_busy(job.busy, role, to, barriers);
    }
}

// The first two SMs of `gpc` that share no TPC are the pair, so many others keep its ways full.
void record(ProbeBench& bench, const std::vector<int>& gpc, int others, int in_flight, int delay_cycles) {
    std::vector<int> sms{gpc[0], gpc[2]};
    for (std::size_t i = 1; i < gpc.size() && static_cast<int>(sms.size()) < kPair + others; ++i)
        if (i != 2) sms.push_back(gpc[i]);
    const DeviceRoles roles(Roles::of(sms, bench.sms()));
    const auto matrix_rows = static_cast<std::int64_t>(bench.sms()) * kBoxRows;
    DeviceBuffer<Meeting> meeting(1);
    DeviceBuffer<unsigned> finished(1);
    const DeviceBuffer<double> cycles(kPair);
    DeviceBuffer<unsigned long long> copied(sms.size());
    DeviceBuffer<long long> lasted(sms.size());
    copied.fill_bytes(0);
    lasted.fill_bytes(0);
    const BusyBoxes busy{tile_map(bench.buffer(), matrix_rows, kColumns, kBoxRows),
                         in_flight,
                         kBoxRows,
                         kPair,
                         finished.get(),
                         copied.get(),
                         lasted.get()};
    const Job job{tile_map(bench.buffer(), matrix_rows, kColumns, kPairRows),
                  busy,
                  delay_cycles,
                  roles.participants(),
                  roles.device(),
                  meeting.get(),
                  cycles.get()};
    const int shared = probe::prepare_one_cta_per_sm(pair_kernel) - kAlignment;
    const Counters counted = bench.count(
        [&] {
            pair_kernel<<<static_cast<unsigned>(bench.sms()), 32, static_cast<std::size_t>(shared)>>>(job);
            check_launch("asking in pairs");
        },
        [&] {
            meeting.fill_bytes(0);
            finished.fill_bytes(0);
        });
    const std::vector<double> took = cycles.to_host();
    constexpr int kSectors = (kRounds + kUntimed) * kPairRows * kRowBytes / 32;
    std::printf("%d,%d,%.0f,%d,%d,%.0f,%.0f,%.0f\n", others, in_flight, rate_of(copied, lasted), delay_cycles,
                kSectors, counted.at("lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum"),
                took[0] / bench.sm_ghz(), took[1] / bench.sm_ghz());
    std::fflush(stdout);
}

void record_all(ProbeBench& bench) {
    const auto has_fewer = [](const auto& a, const auto& b) { return a.size() < b.size(); };
    const std::vector<int>& gpc = *std::max_element(bench.gpcs.begin(), bench.gpcs.end(), has_fewer);
    if (gpc.size() < kPair + kSomeOthers)
        throw Unavailable("no GPC has enough SMs to fill its ways beside a pair");
    const int all_others = static_cast<int>(gpc.size()) - kPair;
    std::printf("others,in_flight,bytes_per_ns,delay_cycles,sectors,merged_sectors,first_ns,second_ns\n");
    const std::vector<std::pair<int, int>> loads{{0, 0},          {kSomeOthers / 2, 6}, {kSomeOthers, 6},
                                                 {all_others, 3}, {all_others, 4},      {all_others, 6},
                                                 {all_others, 8}};
    for (const auto& [others, in_flight] : loads)
        for (const int delay : {0, 40, 60, 80, 100, 150, 200, 300, 450, 600, 800, 1200, 1600, 2400})
            record(bench, gpc, others, in_flight, delay);
}

}  // namespace

int main(int count, char**) {
    return run_recorder("l2lens_gpu_merge_waits", count, [](ProbeBench& bench) {
        if (!bench.has_clusters()) throw Unavailable("tensor boxes need compute capability 9.0 or newer");
        probe_topology(bench);
        record_all(bench);
    });
}
