// SPDX-License-Identifier: Apache-2.0
#include <cuda.h>

#include "base/error.hpp"

#include "gpu/device_buffer.hpp"
#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/tensor_map.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/box_delays.hpp"

namespace l2lens::gpu {
namespace {

constexpr std::int64_t kColumns = 8192;  // 16 KiB a row
constexpr int kBoxColumns = 64;          // 128 B
constexpr int kWarpThreads = 32;

struct Job {
    CUtensorMap map;
    std::int32_t rows, boxes, rounds;
    std::int32_t bands;      // of `rows` rows, in the buffer
    std::uint32_t resident;  // a bit a box
    bool own_warps;
    float* cycles;  // [round][box]
};

// Where box `number` lies: every one elsewhere, in other pages than the last ones.
struct Place {
    int x, y;
};
__device__ Place place_of(const Job& job, int number) {
    return {number / job.bands * kBoxColumns, number % job.bands * job.rows};
}

// Warp b + 1 waits for box b; warp 0 asks for all of them, unless each warp does so for itself.
__global__ void box_kernel(const __grid_constant__ Job job) {
    extern __shared__ std::uint8_t raw[];
    __shared__ std::uint64_t barriers[kMaxBoxes];
    __shared__ long long begin;
    if (probe::sm_id() != 0) return;
    constexpr std::uint32_t kAlignment = 1024;  // of the 128 B swizzle
    const std::uint32_t first = (hopper::shared_address(raw) + kAlignment - 1) & ~(kAlignment - 1);
    const std::uint32_t box_bytes = static_cast<std::uint32_t>(job.rows) * kBoxColumns * 2;
    const int own = static_cast<int>(threadIdx.x) / kWarpThreads - 1;
    const bool leader = threadIdx.x % kWarpThreads == 0;
    const auto barrier = [&](int box) { return hopper::shared_address(&barriers[box]); };
    const auto load = [&](int box, Place place) {
        hopper::barrier_expect_bytes(barrier(box), box_bytes);
        hopper::load_box(&job.map, first + static_cast<std::uint32_t>(box) * box_bytes, barrier(box), place.x,
                         place.y);
    };
    if (threadIdx.x == 0) {
        for (int box = 0; box < job.boxes; ++box) hopper::barrier_init(barrier(box), 1);
        hopper::barrier_init_fence();
        hopper::prefetch_descriptor(&job.map);
    }
    __syncthreads();
    for (int round = 0; round < job.rounds; ++round) {
        const auto number = [&](int box) { return round * job.boxes + box; };
        if (leader && own >= 0) {
            Place touched = place_of(job, number(own));
            constexpr int kElsewhere = kColumns / 2;  // the same rows, so the same pages
            if (!(job.resident >> own & 1)) touched.x ^= kElsewhere;
            load(own, touched);
            hopper::barrier_wait(barrier(own), 0);
        }
        constexpr int kGetReady = 2000;
        if (threadIdx.x == 0) begin = clock64() + kGetReady;
        __syncthreads();
        while (clock64() < begin) {
        }
        if (leader && own < 0 && !job.own_warps)
            for (int box = 0; box < job.boxes; ++box) load(box, place_of(job, number(box)));
        if (leader && own >= 0) {
            if (job.own_warps) load(own, place_of(job, number(own)));
            hopper::barrier_wait(barrier(own), 1);
            job.cycles[number(own)] = static_cast<float>(clock64() - begin);
        }
        __syncthreads();
    }
}

}  // namespace

std::vector<std::vector<double>> time_boxes(void* buffer, std::int64_t bytes, int sms, int rounds,
                                            const TimedBoxes& boxes) {
    const auto count = static_cast<int>(boxes.resident.size());
    const std::int64_t rows = bytes / (kColumns * 2);
    if (count < 1 || count > kMaxBoxes || boxes.rows < 8 || boxes.rows > kMaxBoxRows ||
        rows / boxes.rows * (kColumns / 2 / kBoxColumns) < std::int64_t{rounds} * count)
        throw BadInput("1 to 4 boxes of 8 to 256 rows can be timed, as often as the buffer has room for");
    DeviceBuffer<float> cycles(static_cast<std::size_t>(rounds * count));
    Job job{};
    job.map = tile_map(buffer, rows, kColumns, boxes.rows);
    job.rows = boxes.rows;
    job.boxes = count;
    job.rounds = rounds;
    job.bands = static_cast<std::int32_t>(rows / boxes.rows);
    for (int box = 0; box < count; ++box)
        job.resident |= static_cast<std::uint32_t>(boxes.resident[static_cast<std::size_t>(box)]) << box;
    job.own_warps = boxes.own_warps;
    job.cycles = cycles.get();
    const int shared = probe::prepare_one_cta_per_sm(box_kernel);
    box_kernel<<<static_cast<unsigned>(sms), (count + 1) * kWarpThreads, static_cast<std::size_t>(shared)>>>(
        job);
    check_launch("timing boxes");
    const std::vector<float> timed = cycles.to_host();
    std::vector<std::vector<double>> all;
    for (int round = 0; round < rounds; ++round) {
        const auto at = timed.begin() + round * count;
        all.emplace_back(at, at + count);
    }
    return all;
}

}  // namespace l2lens::gpu
