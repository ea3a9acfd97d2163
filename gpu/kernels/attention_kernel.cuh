// SPDX-License-Identifier: Apache-2.0
// The attention kernel proper. One thread loads a tile's queries and then its boxes of K and V into two
// rings with TMA; two warpgroups of 64 queries each multiply, keep the online softmax in registers and store.
// The scores of a box are multiplied while the one before is still weighted with V, so that the tensor cores
// and the exponentials overlap within a warpgroup (FlashAttention-3, arXiv 2407.08608, section 3.2).
#pragma once

#include <cstdint>

#include <cuda.h>

#include "gpu/kernels/accumulators.cuh"
#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/pieces.cuh"
#include "gpu/kernels/place_and_time.cuh"
#include "gpu/kernels/wgmma.cuh"
#include "gpu/kernels/work_queue.cuh"

namespace l2lens::gpu {

inline constexpr int kAttentionGroups = 2;                  // warpgroups
inline constexpr int kAttentionBq = kAttentionGroups * 64;  // queries of a tile
// The producer is a warpgroup too, of which one thread works: registers change hands between warpgroups only.
inline constexpr int kAttentionThreads = (kAttentionGroups + 1) * 128;
inline constexpr int kMostAttentionStages = 4;

struct AttentionArgs {
    CUtensorMap q, k, v, o;
    float* lse;
    WorkList work;
    std::int32_t heads, queries_per_kv;  // heads of Q, and how many of them share a head of K and V
    std::int32_t seq;
    std::int32_t stages;
    std::int32_t causal;
    std::int32_t last_column;  // of the tiles when these are counted from the last block of queries, or -1
    float scale;               // of a score: log2(e) / sqrt(dim), for exponentials to base 2
};

// How a CTA's shared memory is laid out, for the host as well. A row of a box is cut into pieces of 64
// elements (128 B, the widest swizzle), each piece's rows one behind the other.
template <int D, int BK>
struct AttentionLayout {
    static constexpr int kPieces = D / 64;
    static constexpr int kQBytes = kAttentionBq * D * 2;
    static constexpr int kBoxBytes = BK * D * 2;  // of K or of V
    struct Barriers {
        WorkQueue queue;
        std::uint64_t q_full, q_empty;
        std::uint64_t k_full[kMostAttentionStages], k_empty[kMostAttentionStages];
        std::uint64_t v_full[kMostAttentionStages], v_empty[kMostAttentionStages];
    };
    static constexpr int kAlignment = 1024;  // of the 128 B swizzle
    static constexpr std::int64_t bytes(int stages) {
        return kQBytes + std::int64_t{stages} * 2 * kBoxBytes + sizeof(Barriers) + kAlignment;
    }
};

// Over the four lanes that hold a row of accumulators.
__device__ inline float max_of_row(float x) {
    x = fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 1));
    return fmaxf(x, __shfl_xor_sync(0xFFFFFFFFu, x, 2));
}
__device__ inline float sum_of_row(float x) {
    x += __shfl_xor_sync(0xFFFFFFFFu, x, 1);
    return x + __shfl_xor_sync(0xFFFFFFFFu, x, 2);
}

// The running softmax of the two rows of a 64 x BK tile of scores that a thread has a share of. It works to
// base 2 on scores times `scale`.
template <int BK>
class OnlineSoftmax {
public:
    __device__ explicit OnlineSoftmax(float scale) : scale_(scale) {}

    // Scores -> their exponentials below the new maxima; returns in `shrink` what earlier sums and outputs
    // are to be multiplied with.
    __device__ void take(float (&scores)[BK / 2], float (&shrink)[2]) {
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            float most = max_[half];
#pragma unroll
            for (int i = 0; i < BK / 4; ++i) most = fmaxf(most, scores[at(half, i)]);
            most = max_of_row(most);
            // The first box always has a valid score (column 0), so that no maximum is -infinity here.
            shrink[half] = exp2_fast((max_[half] - most) * scale_);
            max_[half] = most;
            const float shift = most * scale_;
            float sum = 0;
#pragma unroll
            for (int i = 0; i < BK / 4; ++i) {
                float& score = scores[at(half, i)];
                score = exp2_fast(fmaf(score, scale_, -shift));
                sum += score;
            }
            sum_[half] = sum_[half] * shrink[half] + sum;  // of this lane; the row's sum is taken at the end
        }
    }

    // Row's sum of exponentials, and the natural logarithm of the sum with the maximum put back.
    __device__ float total(int half) const {
        return sum_of_row(sum_[half]);
    }
    __device__ float log_total(int half, float total) const {
        constexpr float kLn2 = 0.6931471805599453f;
        return (max_[half] * scale_ + log2f(total)) * kLn2;
    }

    // Accumulator of a thread's row 8 * half, its i-th column.
    __device__ static constexpr int at(int half, int i) {
        return i / 2 * 4 + half * 2 + i % 2;
    }

private:
    float scale_;
    float max_[2] = {-INFINITY, -INFINITY};
    float sum_[2] = {0, 0};
};

template <int D, int BK>
class AttentionCta {
public:
    using Layout = AttentionLayout<D, BK>;
    using Scores = hopper::Wgmma<BK, true, true>;       // Q K^T: both contiguous along dim
    using Weighted = hopper::WgmmaRegisters<D, false>;  // P V: V is contiguous along its columns
    static constexpr int kQPiece = kAttentionBq * 128;  // bytes of 64 columns of a tile's queries
    static constexpr int kKvPiece = BK * 128;

    __device__ AttentionCta(const AttentionArgs& args, std::uint8_t* shared)
        : args_(args),
          q_(hopper::shared_address(shared)),
          k_(q_ + Layout::kQBytes),
          v_(k_ + args.stages * Layout::kBoxBytes),
          barriers_(*reinterpret_cast<typename Layout::Barriers*>(shared + Layout::kQBytes +
                                                                  args.stages * 2 * Layout::kBoxBytes)) {}

    __device__ void run() {
        if (threadIdx.x == 0) init_barriers();
        __syncthreads();
        if (threadIdx.x / 128 == kAttentionGroups) {
            hopper::lower_registers<40>();
            if (threadIdx.x % 128 == 0) produce();
        } else {
            hopper::raise_registers<232>();
            consume();
        }
    }

private:
    __device__ void init_barriers() {
        const std::uint32_t consumer_warps = kAttentionGroups * 4;
        hopper::barrier_init(one(barriers_.q_full), 1);
        hopper::barrier_init(one(barriers_.q_empty), kAttentionGroups);
        for (int stage = 0; stage < args_.stages; ++stage) {
            hopper::barrier_init(one(barriers_.k_full[stage]), 1);
            hopper::barrier_init(one(barriers_.v_full[stage]), 1);
            hopper::barrier_init(one(barriers_.k_empty[stage]), consumer_warps);
            hopper::barrier_init(one(barriers_.v_empty[stage]), consumer_warps);
        }
        barriers_.queue.init(consumer_warps + 1);
        hopper::barrier_init_fence();
    }

    __device__ static std::uint32_t one(std::uint64_t& barrier) { return hopper::shared_address(&barrier); }

    __device__ static int head_of(std::uint32_t tile) { return static_cast<int>(tile >> 16); }
    __device__ int first_query(std::uint32_t tile) const {
        const auto column = static_cast<int>(tile & 0xFFFF);
        return (args_.last_column < 0 ? column : args_.last_column - column) * kAttentionBq;
    }
    // Boxes of K and V that a tile's queries look at.
    __device__ int boxes_of(std::uint32_t tile) const {
        const int keys = args_.causal ? min(args_.seq, first_query(tile) + kAttentionBq) : args_.seq;
        return (keys + BK - 1) / BK;
    }

    // ---- producer: one thread ----

    __device__ void produce() {
        hopper::prefetch_descriptor(&args_.q);
        hopper::prefetch_descriptor(&args_.k);
        hopper::prefetch_descriptor(&args_.v);
        hopper::prefetch_descriptor(&args_.o);
        WorkScheduler scheduler(args_.work, 1, 0);
        WorkReader reader(0);
        QueuePosition ring;
        QueuePosition tiles;
        while (true) {
            scheduler.publish(barriers_.queue);
            const Work work = reader.next(barriers_.queue, true);
            if (work.launch_id < 0) return;
            if (args_.work.records) note_start(work.launch_id);
            if (work.tile == kNoTilePacked) continue;
            load_queries(work.tile, tiles);
            load_keys_and_values(work.tile, ring);
        }
    }

    __device__ void load_queries(std::uint32_t tile, QueuePosition& tiles) {
        hopper::barrier_wait(one(barriers_.q_empty), tiles.parity ^ 1);
        tiles.advance(1);
        hopper::barrier_expect_bytes(one(barriers_.q_full), Layout::kQBytes);
        for (int piece = 0; piece < Layout::kPieces; ++piece)
            hopper::load_box_of_plane(&args_.q, q_ + piece * kQPiece, one(barriers_.q_full), piece * 64,
                                      first_query(tile), head_of(tile));
    }

    __device__ void load_keys_and_values(std::uint32_t tile, QueuePosition& ring) {
        const int head = head_of(tile) / args_.heads * (args_.heads / args_.queries_per_kv) +
                         head_of(tile) % args_.heads / args_.queries_per_kv;
        const int boxes = boxes_of(tile);
        for (int box = 0; box < boxes; ++box) {
            load_box_of(&args_.k, k_ + ring.slot * Layout::kBoxBytes, barriers_.k_full[ring.slot],
                        barriers_.k_empty[ring.slot], ring.parity, box, head);
            load_box_of(&args_.v, v_ + ring.slot * Layout::kBoxBytes, barriers_.v_full[ring.slot],
                        barriers_.v_empty[ring.slot], ring.parity, box, head);
            ring.advance(args_.stages);
        }
    }

    __device__ static void load_box_of(const CUtensorMap* map, std::uint32_t to, std::uint64_t& full,
                                       std::uint64_t& empty, std::uint32_t parity, int box, int head) {
        hopper::barrier_wait(one(empty), parity ^ 1);
        hopper::barrier_expect_bytes(one(full), Layout::kBoxBytes);
        for (int piece = 0; piece < Layout::kPieces; ++piece)
            hopper::load_box_of_plane(map, to + piece * kKvPiece, one(full), piece * 64, box * BK, head);
    }

    __device__ void note_start(std::int32_t launch_id) {
        TileRecord& record = args_.work.records[launch_id];
        record.launch_id = launch_id;
        record.sm = sm_id();
        record.start_ns = global_timer();
    }

    // ---- consumers: two warpgroups ----

    __device__ void consume() {
        const int group = static_cast<int>(threadIdx.x) / 128;
        WorkReader reader(0);
        QueuePosition ring;
        QueuePosition tiles;
        while (true) {
            const Work work = reader.next(barriers_.queue, false);
            if (work.launch_id < 0) break;
            if (work.tile != kNoTilePacked) {
                hopper::barrier_wait(one(barriers_.q_full), tiles.parity);
                tiles.advance(1);
                attend(group, work.tile, ring);
                if (threadIdx.x % 128 == 0) {
                    hopper::store_wait_read<0>();
                    hopper::barrier_arrive_here(one(barriers_.q_empty));
                }
            }
            if (args_.work.records && threadIdx.x == 0)
                args_.work.records[work.launch_id].end_ns = global_timer();
        }
    }

    // One warpgroup's 64 queries against all boxes of the tile.
    __device__ void attend(int group, std::uint32_t tile, QueuePosition& ring) {
        const int first = first_query(tile) + group * 64;
        const int boxes = boxes_of(tile);
        OnlineSoftmax<BK> softmax(args_.scale);
        float out[D / 2];
        float scores[BK / 2];
        float shrink[2];
        std::uint32_t weights[BK / 4];

        wait(barriers_.k_full, ring);
        issue_scores(group, ring.slot, scores);
        hopper::wgmma_wait<0>();
        hopper::wgmma_fence_registers(scores);
        release(barriers_.k_empty, ring);
        mask(scores, first, 0);
        softmax.take(scores, shrink);
        round(scores, weights);

        for (int box = 1; box < boxes; ++box) {
            QueuePosition previous = ring;
            ring.advance(args_.stages);
            wait(barriers_.k_full, ring);
            issue_scores(group, ring.slot, scores);
            wait(barriers_.v_full, previous);
            issue_weighted(previous.slot, weights, out, box > 1);
            hopper::wgmma_wait<1>();
            hopper::wgmma_fence_registers(scores);
            release(barriers_.k_empty, ring);
            mask(scores, first, box);
            softmax.take(scores, shrink);
            hopper::wgmma_wait<0>();
            hopper::wgmma_fence_registers(out);
            release(barriers_.v_empty, previous);
#pragma unroll
            for (int i = 0; i < D / 2; ++i) out[i] *= shrink[i / 2 % 2];
            round(scores, weights);
        }
        wait(barriers_.v_full, ring);
        issue_weighted(ring.slot, weights, out, boxes > 1);
        hopper::wgmma_wait<0>();
        hopper::wgmma_fence_registers(out);
        release(barriers_.v_empty, ring);
        ring.advance(args_.stages);
        finish(group, tile, softmax, out);
    }

    __device__ static void wait(std::uint64_t (&full)[kMostAttentionStages], const QueuePosition& at) {
        hopper::barrier_wait(one(full[at.slot]), at.parity);
    }
    // This warp has read the box.
    __device__ static void release(std::uint64_t (&empty)[kMostAttentionStages], const QueuePosition& at) {
        if (threadIdx.x % 32 == 0) hopper::barrier_arrive_here(one(empty[at.slot]));
    }

    __device__ void issue_scores(int group, int slot, float (&scores)[BK / 2]) {
        hopper::wgmma_fence_registers(scores);
        hopper::wgmma_fence();
#pragma unroll
        for (int slice = 0; slice < D / 16; ++slice) {
            const int inside = slice % 4 * 32;  // bytes of 16 columns
            const std::uint32_t q = q_ + slice / 4 * kQPiece + group * 8192 + inside;
            const std::uint32_t k = k_ + slot * Layout::kBoxBytes + slice / 4 * kKvPiece + inside;
            Scores::mma(scores, hopper::matrix_descriptor<true>(q, 0), hopper::matrix_descriptor<true>(k, 0),
                        slice > 0);
        }
        hopper::wgmma_commit();
    }

    __device__ void issue_weighted(int slot, const std::uint32_t (&weights)[BK / 4], float (&out)[D / 2],
                                   bool accumulate) {
        hopper::wgmma_fence_registers(out);
        hopper::wgmma_fence();
#pragma unroll
        for (int slice = 0; slice < BK / 16; ++slice) {
            const std::uint32_t v = v_ + slot * Layout::kBoxBytes + slice * 2048;  // 16 rows of 128 B
            Weighted::mma(out, weights + slice * 4, hopper::matrix_descriptor<false>(v, kKvPiece),
                          accumulate || slice > 0);
        }
        hopper::wgmma_commit();
    }

    __device__ static void round(const float (&scores)[BK / 2], std::uint32_t (&weights)[BK / 4]) {
#pragma unroll
        for (int i = 0; i < BK / 4; ++i) weights[i] = pack_bf16(scores[2 * i], scores[2 * i + 1]);
    }

    // Keys behind the end of the sequence, or behind the query.
    __device__ void mask(float (&scores)[BK / 2], int first, int box) const {
        const int last_key = box * BK + BK - 1;
        if (last_key < args_.seq && !(args_.causal && last_key > first)) return;
        const int lane = static_cast<int>(threadIdx.x % 32);
        const int row = first + static_cast<int>(threadIdx.x / 32 % 4) * 16 + lane / 4;
        const int column = box * BK + lane % 4 * 2;
#pragma unroll
        for (int i = 0; i < BK / 2; ++i) {
            const int key = column + i / 4 * 8 + i % 2;
            const int query = row + i / 2 % 2 * 8;
            if (key >= args_.seq || (args_.causal && key > query)) scores[i] = -INFINITY;
        }
    }

    // Outputs over their sums, through this warpgroup's own rows of the queries' buffer, which only it reads.
    __device__ void finish(int group, std::uint32_t tile, const OnlineSoftmax<BK>& softmax,
                           float (&out)[D / 2]) {
        float inverse[2];
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const float total = softmax.total(half);
            inverse[half] = 1.0f / total;
            store_log(group, tile, half, softmax.log_total(half, total));
        }
#pragma unroll
        for (int i = 0; i < D / 2; ++i) out[i] *= inverse[i / 2 % 2];
        hopper::named_barrier(1 + group, 128);  // all four warps have multiplied their queries
        const std::uint32_t staging = q_ + group * 8192;
#pragma unroll
        for (int piece = 0; piece < Layout::kPieces; ++piece)
            write_accumulators(staging + piece * kQPiece, out + piece * 32);
        hopper::async_proxy_fence();
        hopper::named_barrier(1 + group, 128);
        if (threadIdx.x % 128 != 0) return;
        for (int piece = 0; piece < Layout::kPieces; ++piece)
            hopper::store_box_of_plane(&args_.o, staging + piece * kQPiece, piece * 64,
                                       first_query(tile) + group * 64, head_of(tile));
        hopper::store_commit();
    }

    __device__ void store_log(int group, std::uint32_t tile, int half, float value) const {
        const int lane = static_cast<int>(threadIdx.x % 32);
        const int query = first_query(tile) + group * 64 + static_cast<int>(threadIdx.x / 32 % 4) * 16 +
                          half * 8 + lane / 4;
        if (lane % 4 == 0 && query < args_.seq)
            args_.lse[static_cast<std::int64_t>(head_of(tile)) * args_.seq + query] = value;
    }

    const AttentionArgs& args_;
    std::uint32_t q_;
    std::uint32_t k_;
    std::uint32_t v_;
    typename Layout::Barriers& barriers_;
};

template <int D, int BK>
__global__ void __launch_bounds__(kAttentionThreads, 1)
    attention_kernel(const __grid_constant__ AttentionArgs args) {
    extern __shared__ std::uint8_t raw[];
    constexpr std::uint32_t kAlignment = AttentionLayout<D, BK>::kAlignment;
    const std::uint32_t misaligned = hopper::shared_address(raw) % kAlignment;
    AttentionCta<D, BK>(args, raw + (misaligned ? kAlignment - misaligned : 0)).run();
}

}  // namespace l2lens::gpu
