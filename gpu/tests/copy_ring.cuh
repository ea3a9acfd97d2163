// SPDX-License-Identifier: Apache-2.0
// Copies that one thread keeps under way, as many all the time, each with a barrier of its own.
#pragma once

#include <cstdint>

#include "gpu/probe/device_side.cuh"

namespace l2lens::gpu {

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
class CopyRing {
public:
    // `barriers`: shared memory for `depth` of them.
    __device__ CopyRing(std::uint64_t* barriers, int depth)
        : first_(static_cast<std::uint32_t>(__cvta_generic_to_shared(barriers))), depth_(depth) {
        for (int i = 0; i < depth_; ++i)
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(barrier(i)));
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }

    // start(slot, barrier) starts the copy into a slot.
    template <class Start>
    __device__ void begin(Start&& start) {
        for (int i = 0; i < depth_; ++i) start(i, barrier(i));
    }
    // Once the oldest copy is there, another one takes its slot.
    template <class Start>
    __device__ void turn(Start&& start) {
        const int slot = slot_;
        finish_oldest();
        start(slot, barrier(slot));
    }
    __device__ void finish() {
        for (int i = 0; i < depth_; ++i) finish_oldest();
    }

private:
    __device__ std::uint32_t barrier(int slot) const { return first_ + static_cast<std::uint32_t>(slot) * 8; }
    __device__ void finish_oldest() {
        probe::wait_for_phase(barrier(slot_), parity_);
        if (++slot_ < depth_) return;
        slot_ = 0;
        parity_ ^= 1;
    }

    std::uint32_t first_;
    int depth_;
    int slot_ = 0;
    std::uint32_t parity_ = 0;
};
#endif

}  // namespace l2lens::gpu
