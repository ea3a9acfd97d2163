// SPDX-License-Identifier: Apache-2.0
// Who works on which launch id next. A two-entry queue in shared memory tells the warps of a CTA, so that
// loads of the next tile start while this one computes. In grid and static launches each CTA knows its launch
// ids; in a dynamic one the cluster's first CTA draws them and writes into the queues of all.
#pragma once

#include <cstdint>

#include "gpu/kernels/hopper.cuh"
#include "gpu/kernels/launch.hpp"

namespace l2lens::gpu {

// What a kernel needs of a LaunchPlan; part of its arguments.
struct WorkList {
    const std::uint32_t* order;
    std::int32_t works;  // launches / CTAs of a cluster
    LaunchMode mode;
    std::uint32_t* counter;
    TileRecord* records;
};

struct alignas(8) Work {
    std::int32_t launch_id;  // -1: nothing left
    std::uint32_t tile;
};

// Lives in shared memory.
struct WorkQueue {
    static constexpr int kDepth = 2;
    std::uint64_t full[kDepth];
    std::uint64_t empty[kDepth];
    Work entry[kDepth];

    // By one thread, before the cluster-wide barrier that follows initialisation.
    __device__ void init(std::uint32_t readers) {
        for (int i = 0; i < kDepth; ++i) {
            hopper::barrier_init(hopper::shared_address(&full[i]), 1);
            hopper::barrier_init(hopper::shared_address(&empty[i]), readers);
        }
    }
};

// Walks the queue's entries: slot and the parity of its current round.
struct QueuePosition {
    int slot = 0;
    std::uint32_t parity = 0;
    __device__ void advance(int depth) {
        if (++slot == depth) {
            slot = 0;
            parity ^= 1;
        }
    }
};

// Which CTA of the cluster fills the queue of this one.
__device__ inline std::uint32_t rank_of_scheduler(const WorkList& list, std::uint32_t own_rank) {
    return list.mode == LaunchMode::Dynamic ? 0 : own_rank;
}

// One thread of each CTA that fills a queue.
class WorkScheduler {
public:
    __device__ WorkScheduler(const WorkList& list, std::uint32_t cluster, std::uint32_t rank)
        : list_(list),
          cluster_(cluster),
          rank_(rank),
          next_(blockIdx.x / cluster),
          stride_(gridDim.x / cluster) {}

    // Puts the next work item into this CTA's queue, or into every CTA's.
    __device__ void publish(WorkQueue& queue) {
        hopper::barrier_wait(hopper::shared_address(&queue.empty[position_.slot]), position_.parity ^ 1);
        const std::int64_t work = take();
        const std::uint32_t full = hopper::shared_address(&queue.full[position_.slot]);
        if (cluster_ == 1 || list_.mode != LaunchMode::Dynamic) {
            queue.entry[position_.slot] = describe(work, rank_);
            hopper::barrier_arrive_here(full);
        } else {
            for (std::uint32_t rank = 0; rank < cluster_; ++rank)
                send(describe(work, rank), queue, full, rank);
        }
        position_.advance(WorkQueue::kDepth);
    }

private:
    __device__ Work describe(std::int64_t work, std::uint32_t rank) const {
        if (work >= list_.works) return {-1, kNoTilePacked};
        const std::int64_t id = work * cluster_ + rank;
        return {static_cast<std::int32_t>(id), list_.order[id]};
    }

    // Asynchronous stores exist in launches with clusters only (elsewhere: an illegal instruction).
    __device__ void send(Work work, WorkQueue& queue, std::uint32_t full, std::uint32_t rank) const {
        const std::uint32_t barrier = hopper::in_cta(full, rank);
        hopper::barrier_expect_bytes_in_cta(barrier, sizeof(Work));
        hopper::store_pair_in_cta(hopper::in_cta(hopper::shared_address(&queue.entry[position_.slot]), rank),
                                  static_cast<std::uint32_t>(work.launch_id), work.tile, barrier);
    }

    __device__ std::int64_t take() {
        if (list_.mode == LaunchMode::Dynamic) return atomicAdd(list_.counter, 1u);
        const std::int64_t work = next_;
        next_ = list_.mode == LaunchMode::Static ? next_ + stride_ : list_.works;
        return work;
    }

    const WorkList& list_;
    std::uint32_t cluster_;
    std::uint32_t rank_;
    std::int64_t next_;
    std::int64_t stride_;
    QueuePosition position_;
};

// One per warp that reads the queue (all its lanes call).
class WorkReader {
public:
    __device__ explicit WorkReader(std::uint32_t scheduler_rank) : scheduler_(scheduler_rank) {}

    __device__ Work next(WorkQueue& queue, bool one_lane) {
        hopper::barrier_wait(hopper::shared_address(&queue.full[position_.slot]), position_.parity);
        const Work work = queue.entry[position_.slot];
        if (!one_lane) __syncwarp();
        if (one_lane || threadIdx.x % 32 == 0)
            hopper::barrier_arrive(
                hopper::in_cta(hopper::shared_address(&queue.empty[position_.slot]), scheduler_));
        position_.advance(WorkQueue::kDepth);
        return work;
    }

private:
    std::uint32_t scheduler_;
    QueuePosition position_;
};

}  // namespace l2lens::gpu
