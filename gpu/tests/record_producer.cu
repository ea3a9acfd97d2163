// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_producer: how often a thread asks for the boxes of a step, as rows of traces/h200/producer.csv
// (its README says what the columns are). Each CTA has a ring of stages, a thread that fills them with boxes
// that the L2 has, and another one that gives them back at once: the loop of a warp-specialized GEMM, without
// its math.
#include <array>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <cuda.h>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/tensor_map.hpp"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

constexpr int kThreads = 64;  // a warp that asks and one that gives back
constexpr int kMostStages = 12;
constexpr int kMostBoxes = 4;
constexpr int kRowBytes = 128;  // 64 elements of bf16
constexpr int kColumns = 256;  // four boxes side by side: with 132 CTAs of 256 rows 17 MB, in both partitions
constexpr int kSteps = 1024;
constexpr int kSettled = 256;  // steps that do not count

struct Loop {
    CUtensorMap maps[kMostBoxes];
    std::int32_t rows[kMostBoxes];
    std::int32_t rows_of_step, stages;
    float* cycles;  // [CTA][Piece]
};

// Of a step, what the asking thread was at, in SM cycles: waiting for a free stage, saying what comes, asking
// for each box. A clock is read between them, which takes some cycles.
enum Piece { kStep, kWait, kExpect, kFirstBox, kPieces = kFirstBox + kMostBoxes };

struct Ring {
    int stage = 0;
    std::uint32_t parity = 0;
    __device__ void advance(int stages) {
        if (++stage < stages) return;
        stage = 0;
        parity ^= 1;
    }
};

struct Barriers {
    std::uint64_t full[kMostStages], empty[kMostStages];
};

template <int Boxes, bool Stamped>
__device__ void ask(const Loop& loop, Barriers& barriers, std::uint32_t buffers) {
    long long total[kPieces] = {};
    Ring ring;
    long long begin = 0;
    const int y = static_cast<int>(blockIdx.x) * loop.rows_of_step;
    for (int step = 0; step < kSteps; ++step) {
        if (step == kSettled) begin = clock64();
        long long last = Stamped ? clock64() : 0;
        const auto stamp = [&](int piece) {
            if constexpr (Stamped) {
                const long long now = clock64();
                if (step >= kSettled) total[piece] += now - last;
                last = now;
            }
        };
        const std::uint32_t full = hopper::shared_address(&barriers.full[ring.stage]);
        hopper::barrier_wait(hopper::shared_address(&barriers.empty[ring.stage]), ring.parity ^ 1);
        stamp(kWait);
        hopper::barrier_expect_bytes(full, static_cast<std::uint32_t>(loop.rows_of_step * kRowBytes));
        stamp(kExpect);
        const int x = step * (kRowBytes / 2) % kColumns;
        std::uint32_t to = buffers + static_cast<std::uint32_t>(ring.stage * loop.rows_of_step * kRowBytes);
        int row = y;
#pragma unroll
        for (int box = 0; box < Boxes; ++box) {
            hopper::load_box(&loop.maps[box], to, full, x, row);
            stamp(kFirstBox + box);
            to += static_cast<std::uint32_t>(loop.rows[box] * kRowBytes);
            row += loop.rows[box];
        }
        ring.advance(loop.stages);
    }
    total[kStep] = clock64() - begin;
    for (int piece = 0; piece < kPieces; ++piece)
        loop.cycles[blockIdx.x * kPieces + piece] =
            static_cast<float>(total[piece]) / static_cast<float>(kSteps - kSettled);
}

__device__ void give_back(const Loop& loop, Barriers& barriers) {
    Ring ring;
    for (int step = 0; step < kSteps; ++step) {
        hopper::barrier_wait(hopper::shared_address(&barriers.full[ring.stage]), ring.parity);
        hopper::barrier_arrive_here(hopper::shared_address(&barriers.empty[ring.stage]));
        ring.advance(loop.stages);
    }
}

template <int Boxes, bool Stamped>
__global__ void loop_kernel(const __grid_constant__ Loop loop) {
    extern __shared__ std::uint8_t raw[];
    __shared__ Barriers barriers;
    const std::uint32_t buffers = (hopper::shared_address(raw) + 1023) / 1024 * 1024;
    if (threadIdx.x == 0) {
        for (int stage = 0; stage < loop.stages; ++stage) {
            hopper::barrier_init(hopper::shared_address(&barriers.full[stage]), 1);
            hopper::barrier_init(hopper::shared_address(&barriers.empty[stage]), 1);
        }
        hopper::barrier_init_fence();
    }
    __syncthreads();
    if (threadIdx.x == 0) ask<Boxes, Stamped>(loop, barriers, buffers);
    if (threadIdx.x == kThreads / 2) give_back(loop, barriers);
    __syncthreads();
}

struct Shape {
    int boxes;
    std::array<int, kMostBoxes> rows;
    int stages;
};

template <int Boxes, bool Stamped>
std::array<double, kPieces> time(Loop loop, int ctas) {
    const DeviceBuffer<float> cycles(static_cast<std::size_t>(ctas * kPieces));
    loop.cycles = cycles.get();
    const int shared = loop.stages * loop.rows_of_step * kRowBytes + 1024;
    const auto kernel = loop_kernel<Boxes, Stamped>;
    check_cuda(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
               "asking for shared memory");
    constexpr int kRounds = 3;  // the last one counts
    for (int round = 0; round < kRounds; ++round)
        kernel<<<static_cast<unsigned>(ctas), kThreads, static_cast<std::size_t>(shared)>>>(loop);
    check_launch("timing a producer");
    std::array<double, kPieces> mean{};
    const std::vector<float> all = cycles.to_host();
    for (std::size_t i = 0; i < all.size(); ++i) mean[i % kPieces] += all[i] / ctas;
    return mean;
}

template <int Boxes>
void record(const void* matrix, std::int64_t matrix_rows, const Shape& shape, int ctas) {
    Loop loop{};
    loop.stages = shape.stages;
    for (int box = 0; box < shape.boxes; ++box) {
        const auto i = static_cast<std::size_t>(box);
        loop.maps[i] = tile_map(matrix, matrix_rows, kColumns, shape.rows[i]);
        loop.rows[i] = shape.rows[i];
        loop.rows_of_step += shape.rows[i];
    }
    const std::array<double, kPieces> plain = time<Boxes, false>(loop, ctas);
    const std::array<double, kPieces> stamped = time<Boxes, true>(loop, ctas);
    std::printf("%d,%d,%d,%d,%d,%.1f,%.1f,%.1f,%.1f", ctas, shape.boxes, shape.rows[0],
                shape.boxes > 1 ? shape.rows[1] : 0, shape.stages, plain[kStep], stamped[kStep],
                stamped[kWait], stamped[kExpect]);
    for (int box = 0; box < kMostBoxes; ++box)
        if (box < shape.boxes)
            std::printf(",%.1f", stamped[static_cast<std::size_t>(kFirstBox + box)]);
        else
            std::printf(",");
    std::printf("\n");
    std::fflush(stdout);
}

void record_all() {
    constexpr std::int64_t kRows = 132 * 384;  // of 132 CTAs with 128 x 256 tiles, the most below
    const DeviceBuffer<std::uint16_t> matrix(static_cast<std::size_t>(kRows * kColumns));
    std::printf("ctas,boxes,rows_a,rows_b,stages,step,stamped_step,wait,expect,box_1,box_2,box_3,box_4\n");
    for (const int ctas : {1, 16, 132}) {
        for (const Shape& shape :
             {Shape{1, {8}, 8}, {1, {16}, 8}, {1, {32}, 8}, {1, {64}, 8}, {1, {128}, 8}, {1, {256}, 4}})
            record<1>(matrix.get(), kRows, shape, ctas);
        for (const Shape& shape : {Shape{2, {8, 8}, 8},
                                   {2, {16, 16}, 8},
                                   {2, {32, 32}, 8},
                                   {2, {64, 64}, 4},
                                   {2, {64, 64}, 8},
                                   {2, {64, 64}, 12},
                                   {2, {64, 128}, 3},
                                   {2, {64, 128}, 4},
                                   {2, {64, 128}, 8},
                                   {2, {128, 64}, 4},
                                   {2, {128, 64}, 8},
                                   {2, {128, 128}, 3},
                                   {2, {128, 128}, 4},
                                   {2, {128, 128}, 6},
                                   {2, {64, 256}, 4},
                                   {2, {128, 256}, 4},
                                   {2, {256, 128}, 4}})
            record<2>(matrix.get(), kRows, shape, ctas);
        for (const Shape& shape : {Shape{4, {8, 8, 8, 8}, 8},
                                   {4, {32, 32, 32, 32}, 4},
                                   {4, {32, 32, 32, 32}, 8},
                                   {4, {64, 64, 64, 64}, 4},
                                   {4, {64, 64, 64, 64}, 6}})
            record<4>(matrix.get(), kRows, shape, ctas);
    }
}

}  // namespace

int main() {
    try {
        record_all();
    } catch (const Error& error) {
        std::fprintf(stderr, "l2lens_gpu_producer: %s\n", error.what());
        return static_cast<int>(error.code());
    }
    return 0;
}
