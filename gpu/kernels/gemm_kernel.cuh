// SPDX-License-Identifier: Apache-2.0
// The GEMM kernel proper. One producer warp keeps a ring of stages full with TMA; one or two warpgroups
// multiply and store. A tile's k-step is one stage: a box of A, then a box of B.
#pragma once

#include <cstdint>

#include <cuda.h>

#include "gpu/kernels/accumulators.cuh"
#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/place_and_time.cuh"
#include "gpu/kernels/wgmma.cuh"
#include "gpu/kernels/work_queue.cuh"

namespace l2lens::gpu {

inline constexpr int kGemmBk = 64;        // elements of k in a stage: 128 B, the widest swizzle
inline constexpr int kBlock = 64;         // rows or columns of a block whose rows are 128 B
inline constexpr int kBlockBytes = 8192;  // 64 rows of 128 B
inline constexpr int kMaxStages = 12;

enum class Share : std::int32_t { Nothing, A, B };  // which operand the CTAs of a cluster have in common

struct GemmArgs {
    CUtensorMap a, b, c;
    WorkList work;
    std::int32_t k_steps;
    std::int32_t stages;
    Share share;
};

// How a CTA's shared memory is laid out, for the host as well.
template <int BM, int BN, int WarpGroups>
struct GemmLayout {
    static constexpr int kStageBytes = (BM + BN) * kGemmBk * 2;
    static constexpr int kRows = BM / WarpGroups;                     // of a warpgroup
    static constexpr int kChunks = (kRows / kBlock) * (BN / kBlock);  // 64 x 64 pieces of its C
    static constexpr int kBuffers = kChunks > 1 ? 2 : 1;              // pieces being stored at once
    static constexpr int kStoreBytes = WarpGroups * kBuffers * kBlockBytes;
    struct Barriers {
        WorkQueue queue;
        std::uint64_t full[kMaxStages];
        std::uint64_t empty[kMaxStages];
    };
    static constexpr int kAlignment = 1024;  // of the 128 B swizzle
    static constexpr std::int64_t bytes(int stages) {
        return std::int64_t{stages} * kStageBytes + kStoreBytes + sizeof(Barriers) + kAlignment;
    }
};

// A box of an operand, or this CTA's half of it for both CTAs of the cluster. `first` is the box's first row
// or column of C; an operand contiguous along that axis comes in blocks of 64 and is halved along k.
template <int Extent, bool KMajor>
__device__ inline void load_operand(const CUtensorMap* map, std::uint32_t to, std::uint32_t barrier,
                                    int first, int k, bool shared, std::uint32_t rank) {
    constexpr std::uint16_t kBoth = 3;
    if constexpr (KMajor) {
        if (!shared) return hopper::load_box(map, to, barrier, k, first);
        const int half = static_cast<int>(rank) * (Extent / 2);
        hopper::load_box_multicast(map, to + half * 128, barrier, k, first + half, kBoth);
    } else {
        for (int block = 0; block < Extent / kBlock; ++block) {
            const std::uint32_t at = to + block * kBlockBytes;
            const int x = first + block * kBlock;
            const int half = static_cast<int>(rank) * (kGemmBk / 2);
            if (!shared)
                hopper::load_box(map, at, barrier, x, k);
            else
                hopper::load_box_multicast(map, at + half * 128, barrier, x, k + half, kBoth);
        }
    }
}

// Where in K a step of a tile begins, in steps: one behind the other. A recorder may have others.
struct WholeK {
    static __device__ int at(int step) { return step; }
};

template <int BM, int BN, int WarpGroups, bool AKMajor, bool BKMajor, class Walk = WholeK>
class GemmCta {
public:
    using Layout = GemmLayout<BM, BN, WarpGroups>;
    using Mma = hopper::Wgmma<BN, AKMajor, BKMajor>;
    static constexpr int kRowBlocks = Layout::kRows / kBlock;

    __device__ GemmCta(const GemmArgs& args, std::uint8_t* shared)
        : args_(args),
          ring_(hopper::shared_address(shared)),
          staging_(ring_ + args.stages * Layout::kStageBytes),
          barriers_(*reinterpret_cast<typename Layout::Barriers*>(shared + args.stages * Layout::kStageBytes +
                                                                  Layout::kStoreBytes)),
          cluster_(args.share == Share::Nothing ? 1 : 2),
          rank_(args.share == Share::Nothing ? 0 : hopper::cluster_rank()) {}

    __device__ void run() {
        if (threadIdx.x == 0) init_barriers();
        sync_all();
        if (threadIdx.x / 32 == WarpGroups * 4) {
            if (threadIdx.x % 32 == 0) produce();
            __syncwarp();
        } else {
            consume();
        }
        if (cluster_ > 1) hopper::cluster_sync();  // nobody leaves while another may write here
    }

private:
    __device__ void init_barriers() {
        const std::uint32_t consumer_warps = WarpGroups * 4;
        for (int stage = 0; stage < args_.stages; ++stage) {
            hopper::barrier_init(full(stage), 1);
            hopper::barrier_init(empty(stage), consumer_warps * cluster_);
        }
        const bool own_queue = args_.work.mode != LaunchMode::Dynamic;
        barriers_.queue.init((consumer_warps + 1) * (own_queue ? 1 : cluster_));
        hopper::barrier_init_fence();
    }

    __device__ void sync_all() {
        __syncthreads();
        if (cluster_ > 1) hopper::cluster_sync();
    }

    __device__ std::uint32_t full(int stage) { return hopper::shared_address(&barriers_.full[stage]); }
    __device__ std::uint32_t empty(int stage) { return hopper::shared_address(&barriers_.empty[stage]); }
    __device__ std::uint32_t a_of(int stage) { return ring_ + stage * Layout::kStageBytes; }
    __device__ std::uint32_t b_of(int stage) { return a_of(stage) + BM * kGemmBk * 2; }
    __device__ static int first_row(std::uint32_t tile) { return static_cast<int>(tile >> 16) * BM; }
    __device__ static int first_column(std::uint32_t tile) { return static_cast<int>(tile & 0xFFFF) * BN; }

    // ---- producer: one thread ----

    __device__ void produce() {
        hopper::prefetch_descriptor(&args_.a);
        hopper::prefetch_descriptor(&args_.b);
        hopper::prefetch_descriptor(&args_.c);
        WorkScheduler scheduler(args_.work, cluster_, rank_);
        const std::uint32_t scheduler_rank = rank_of_scheduler(args_.work, rank_);
        WorkReader reader(scheduler_rank);
        QueuePosition ring;
        while (true) {
            if (rank_ == scheduler_rank) scheduler.publish(barriers_.queue);
            const Work work = reader.next(barriers_.queue, true);
            if (work.launch_id < 0) return;
            if (args_.work.records) note_start(work.launch_id);
            if (work.tile != kNoTilePacked) load_tile(work.tile, ring);
        }
    }

    __device__ void load_tile(std::uint32_t tile, QueuePosition& ring) {
        const int row = first_row(tile);
        const int column = first_column(tile);
        for (int step = 0; step < args_.k_steps; ++step) {
            hopper::barrier_wait(empty(ring.slot), ring.parity ^ 1);
            const std::uint32_t barrier = full(ring.slot);
            hopper::barrier_expect_bytes(barrier, Layout::kStageBytes);
            const int k = Walk::at(step) * kGemmBk;
            load_operand<BM, AKMajor>(&args_.a, a_of(ring.slot), barrier, row, k, args_.share == Share::A,
                                      rank_);
            load_operand<BN, BKMajor>(&args_.b, b_of(ring.slot), barrier, column, k, args_.share == Share::B,
                                      rank_);
            ring.advance(args_.stages);
        }
    }

    __device__ void note_start(std::int32_t launch_id) {
        TileRecord& record = args_.work.records[launch_id];
        record.launch_id = launch_id;
        record.sm = sm_id();
        record.start_ns = global_timer();
    }

    // ---- consumers: WarpGroups x 128 threads ----

    __device__ void consume() {
        const int group = threadIdx.x / 128;
        WorkReader reader(rank_of_scheduler(args_.work, rank_));
        QueuePosition ring;
        while (true) {
            const Work work = reader.next(barriers_.queue, false);
            if (work.launch_id < 0) break;
            if (work.tile != kNoTilePacked) {
                float sums[kRowBlocks][BN / 2];
                multiply(group, ring, sums);
                store(group, work.tile, sums);
            }
            if (args_.work.records && threadIdx.x == 0)
                args_.work.records[work.launch_id].end_ns = global_timer();
        }
        hopper::store_wait_read<0>();
    }

    __device__ void multiply(int group, QueuePosition& ring, float (&sums)[kRowBlocks][BN / 2]) {
        constexpr int kStepA = AKMajor ? 32 : 2048;  // bytes from one k16 slice to the next
        constexpr int kStepB = BKMajor ? 32 : 2048;
        int previous = 0;
        for (int step = 0; step < args_.k_steps; ++step) {
            hopper::barrier_wait(full(ring.slot), ring.parity);
            const std::uint64_t a = hopper::matrix_descriptor<AKMajor>(
                a_of(ring.slot) + group * kRowBlocks * kBlockBytes, kBlockBytes);
            const std::uint64_t b = hopper::matrix_descriptor<BKMajor>(b_of(ring.slot), kBlockBytes);
            hopper::wgmma_fence();
#pragma unroll
            for (int slice = 0; slice < kGemmBk / 16; ++slice)
#pragma unroll
                for (int block = 0; block < kRowBlocks; ++block)
                    Mma::mma(sums[block], a + (block * kBlockBytes + slice * kStepA) / 16,
                             b + slice * kStepB / 16, step + slice > 0);
            hopper::wgmma_commit();
            hopper::wgmma_wait<1>();
            if (step > 0) release(previous);
            previous = ring.slot;
            ring.advance(args_.stages);
        }
        hopper::wgmma_wait<0>();
        if (args_.k_steps > 0) release(previous);
    }

    // This warp has read the stage: tell the producer of every CTA that writes here.
    __device__ void release(int stage) {
        const std::uint32_t lane = threadIdx.x % 32;
        if (lane < cluster_) hopper::barrier_arrive(hopper::in_cta(empty(stage), lane));
    }

    // Accumulators -> bf16 -> a swizzled 64 x 64 piece in shared memory -> TMA store, two pieces in flight.
    __device__ void store(int group, std::uint32_t tile, float (&sums)[kRowBlocks][BN / 2]) {
        const int row = first_row(tile) + group * Layout::kRows;
        const int column = first_column(tile);
        const std::uint32_t staging = staging_ + group * Layout::kBuffers * kBlockBytes;
        const bool leader = threadIdx.x % 128 == 0;
#pragma unroll
        for (int block = 0; block < kRowBlocks; ++block) {
#pragma unroll
            for (int chunk = 0; chunk < BN / kBlock; ++chunk) {
                const int piece = block * (BN / kBlock) + chunk;
                const std::uint32_t buffer = staging + (piece % Layout::kBuffers) * kBlockBytes;
                if (leader) hopper::store_wait_read<Layout::kBuffers - 1>();
                hopper::named_barrier(1 + group, 128);
                write_accumulators(buffer, &sums[block][chunk * (kBlock / 2)]);
                hopper::async_proxy_fence();
                hopper::named_barrier(1 + group, 128);
                if (leader) {
                    hopper::store_box(&args_.c, buffer, column + chunk * kBlock, row + block * kBlock);
                    hopper::store_commit();
                }
            }
        }
    }

    const GemmArgs& args_;
    std::uint32_t ring_;
    std::uint32_t staging_;
    typename Layout::Barriers& barriers_;
    std::uint32_t cluster_;
    std::uint32_t rank_;
};

// What a launch of it runs: one CTA, in all the shared memory it was given.
template <class Cta>
__device__ inline void run_gemm_cta(const GemmArgs& args) {
    extern __shared__ std::uint8_t raw[];
    const std::uint32_t misaligned = hopper::shared_address(raw) % Cta::Layout::kAlignment;
    std::uint8_t* shared = raw + (misaligned ? Cta::Layout::kAlignment - misaligned : 0);
    Cta(args, shared).run();
}

template <int BM, int BN, int WarpGroups, bool AKMajor, bool BKMajor>
__global__ void __launch_bounds__(WarpGroups * 128 + 32, 1)
    gemm_kernel(const __grid_constant__ GemmArgs args) {
    run_gemm_cta<GemmCta<BM, BN, WarpGroups, AKMajor, BKMajor>>(args);
}

}  // namespace l2lens::gpu
