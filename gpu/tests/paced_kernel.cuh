// SPDX-License-Identifier: Apache-2.0
// The kernel of recorders whose SMs do nothing but ask for boxes at a pace: one CTA of two warps an SM.
#pragma once

#include <cstdint>

#include <cuda.h>

#include "gpu/probe/device_side.cuh"
#include "gpu/tests/meeting.cuh"
#include "gpu/tests/paced_boxes.cuh"
#include "gpu/tests/row_boxes.cuh"

namespace l2lens::gpu::paced_boxes {

struct Job {
    CUtensorMap boxes;
    const int* roles;
    Pacing pacing;
    Meeting* meeting;
};

static __global__ void paced_kernel(const __grid_constant__ Job job) {
    extern __shared__ std::uint8_t raw[];
    __shared__ Ring ring;
    __shared__ long long begin;
    const int role = job.roles[sm_id()];
    if (role < 0) return;
    if (threadIdx.x == 0) begin = begin_together(ring, job.meeting, role, job.pacing.readers);
    __syncthreads();
    if (threadIdx.x == 0)
        ask(job.pacing, &job.boxes, row_boxes::kBoxBytes, role, place_of_boxes(raw), ring, begin);
    if (threadIdx.x == 32) watch(job.pacing, role, ring);
}

}  // namespace l2lens::gpu::paced_boxes
