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
    std::uint32_t stored;
    std::int32_t watched_rows[kWatchedRows];
    bool own_warps;
    float* cycles;  // [round]: of the row that is watched in it
};

// Where box `number` lies: every one elsewhere, in other pages than the last ones.
struct Place {
    int x, y;
};
__device__ Place place_of(const Job& job, int number) {
    return {number / job.bands * kBoxColumns, number % job.bands * job.rows};
}

constexpr std::uint32_t kNotYet = 1;  // what the buffer does not hold

__device__ bool has(std::uint32_t bits, int box) {
    return bits >> box & 1;
}

// Warp b asks for box b, or warp 0 for all; the warp after those looks for one row's data, another one each
// round: who waits at a barrier looks every 152 cycles only, and many that look keep each other waiting.
__global__ void box_kernel(const __grid_constant__ Job job) {
    extern __shared__ std::uint8_t raw[];
    __shared__ std::uint64_t barriers[kMaxBoxes];
    __shared__ long long begin;
    if (sm_id() != 0) return;
    constexpr std::uint32_t kAlignment = 1024;  // of the 128 B swizzle
    std::uint8_t* const landed = raw + (kAlignment - hopper::shared_address(raw) % kAlignment) % kAlignment;
    const std::uint32_t row_bytes = kBoxColumns * 2;
    const std::uint32_t box_bytes = static_cast<std::uint32_t>(job.rows) * row_bytes;
    const bool leader = threadIdx.x % kWarpThreads == 0;
    const int warp = static_cast<int>(threadIdx.x) / kWarpThreads;
    const bool touches = leader && warp < job.boxes;
    const bool asks = touches && (job.own_warps || warp == 0);
    const int first = job.own_warps ? warp : 0;
    const int asked = !asks ? 0 : job.own_warps ? 1 : job.boxes;
    const std::uint32_t barrier = hopper::shared_address(&barriers[touches ? warp : 0]);
    const auto buffer_of = [&](int box) {
        return hopper::shared_address(landed) + static_cast<std::uint32_t>(box) * box_bytes;
    };
    const auto load = [&](int box, Place place) {
        hopper::load_box(&job.map, buffer_of(box), barrier, place.x, place.y);
    };
    const auto move = [&](int box, Place place) {
        if (has(job.stored, box))
            hopper::store_box(&job.map, buffer_of(box), place.x, place.y);
        else
            load(box, place);
    };
    std::uint32_t loads = 0;  // of those that this thread asks for
    for (int box = first; box < first + asked; ++box) loads += has(job.stored, box) ? 0 : 1;
    if (threadIdx.x == 0) {
        for (std::uint64_t& one : barriers) hopper::barrier_init(hopper::shared_address(&one), 1);
        hopper::barrier_init_fence();
        hopper::prefetch_descriptor(&job.map);
    }
    __syncthreads();
    std::uint32_t phase = 0;
    for (int round = 0; round < job.rounds; ++round) {
        const auto number = [&](int box) { return round * job.boxes + box; };
        if (touches) {
            Place touched = place_of(job, number(warp));
            constexpr int kElsewhere = kColumns / 2;  // the same rows, so the same pages
            if (!has(job.resident, warp)) touched.x ^= kElsewhere;
            hopper::barrier_expect_bytes(barrier, box_bytes);
            load(warp, touched);
            hopper::barrier_wait(barrier, phase);
            phase ^= 1;
        }
        __syncthreads();
        const int watcher = round % (job.boxes * kWatchedRows);
        const int row = job.watched_rows[watcher % kWatchedRows];
        volatile std::uint32_t* const watched = reinterpret_cast<volatile std::uint32_t*>(
            landed + watcher / kWatchedRows * box_bytes + row * row_bytes);
        const bool watches = warp == job.boxes && !has(job.stored, watcher / kWatchedRows);
        if (watches && leader) {
            *watched = kNotYet;
            hopper::async_proxy_fence();
        }
        Place places[kMaxBoxes];
#pragma unroll
        for (int box = 0; box < kMaxBoxes; ++box) places[box] = place_of(job, number(first + box));
        if (asks) hopper::barrier_expect_bytes(barrier, loads * box_bytes);
        constexpr int kGetReady = 2000;
        if (threadIdx.x == 0) begin = clock64() + kGetReady;
        // Asked for at another time each round, while the watcher looks every 75 cycles: so the mean is good
        // to less than that. Its first look comes some 500 cycles after it was told to.
        constexpr int kLook = 75;
        constexpr int kFirstLook = 600;
        const int later = kFirstLook + round / (job.boxes * kWatchedRows) * 23 % kLook;
        __syncthreads();
        const long long asked_at = begin + later;
        while (clock64() < (watches ? begin : asked_at)) {
        }
#pragma unroll
        for (int box = 0; box < kMaxBoxes; ++box)
            if (box < asked) move(first + box, places[box]);
        if (watches) {  // the whole warp, since a thread alone looks less often
            while (*watched == kNotYet) {
            }
            if (leader) job.cycles[round] = static_cast<float>(clock64() - asked_at);
        }
        if (asks) {
            hopper::barrier_wait(barrier, phase);
            phase ^= 1;
            hopper::store_commit();
            hopper::store_wait_read<0>();
        }
        __syncthreads();
    }
}

}  // namespace

std::vector<std::vector<std::vector<double>>> time_boxes(void* buffer, std::int64_t bytes, int sms,
                                                         int rounds, const TimedBoxes& boxes) {
    const auto count = static_cast<int>(boxes.kinds.size());
    const std::int64_t rows = bytes / (kColumns * 2);
    const int all_rounds = rounds * count * kWatchedRows;
    if (count < 1 || count > kMaxBoxes || boxes.rows < 8 || boxes.rows > kMaxBoxRows ||
        rows / boxes.rows * (kColumns / 2 / kBoxColumns) < std::int64_t{all_rounds} * count)
        throw BadInput("1 to 4 boxes of 8 to 256 rows can be timed, as often as the buffer has room for");
    DeviceBuffer<float> cycles(static_cast<std::size_t>(all_rounds));
    Job job{};
    job.map = tile_map(buffer, rows, kColumns, boxes.rows);
    job.rows = boxes.rows;
    job.boxes = count;
    job.rounds = all_rounds;
    job.bands = static_cast<std::int32_t>(rows / boxes.rows);
    for (int box = 0; box < count; ++box) {
        const BoxKind kind = boxes.kinds[static_cast<std::size_t>(box)];
        job.resident |= static_cast<std::uint32_t>(kind != BoxKind::Missing) << box;
        job.stored |= static_cast<std::uint32_t>(kind == BoxKind::Stored) << box;
    }
    for (int watched = 0; watched < kWatchedRows; ++watched)
        job.watched_rows[watched] = watched_row(boxes.rows, watched);
    job.own_warps = boxes.own_warps;
    job.cycles = cycles.get();
    const int shared = probe::prepare_one_cta_per_sm(box_kernel);
    box_kernel<<<static_cast<unsigned>(sms), (count + 1) * kWarpThreads, static_cast<std::size_t>(shared)>>>(
        job);
    check_launch("timing boxes");
    const std::vector<float> timed = cycles.to_host();
    std::vector all(static_cast<std::size_t>(count), std::vector(kWatchedRows, std::vector<double>()));
    for (std::size_t round = 0; round < timed.size(); ++round) {
        const std::size_t watcher = round % static_cast<std::size_t>(count * kWatchedRows);
        all[watcher / kWatchedRows][watcher % kWatchedRows].push_back(timed[round]);
    }
    return all;
}

}  // namespace l2lens::gpu
