// SPDX-License-Identifier: Apache-2.0
// What is not modelled, for those who look at a report and not at README.md, which says the same at length.
#pragma once

#include <string_view>

namespace l2lens {

struct Limit {
    std::string_view what;
    std::string_view why;
};

inline constexpr Limit kLimits[] = {
    {"The L1 in detail.",
     "Plain loads go through one (sectors, least recently used, what shared memory leaves of it); the real "
     "one keeps less. Shared memory is a size only."},
    {"Atomics with a result",
     "are stores that need the old value; compression and L2 persistence controls are not there."},
    {"The TLB,",
     "DRAM rows and ECC: DRAM is a bandwidth, and a latency that grows with load and has refreshes in it."},
    {"The real slice hash",
     "of GPUs other than the H100 and the H200: there, only the bit that picks a line's home partition is "
     "known, or nothing, and strides are not predicted to camp on a slice."},
    {"Where buffers lie:",
     "the hash takes physical addresses; here the first tensor begins where the seed draws it, "
     "with seed 0 on the memory's first page."},
    {"Power", "beyond one rule that lowers the SM clock with the achieved FLOP rate."},
    {"Anything else that runs:", "copies, MPS, several GPUs, NVLink."},
    {"AMD GPUs beyond hit rates.", "Coherence between dies is free, and times are guesses."},
    {"The instruction stream.", "Math is a number of cycles per step."},
    {"A sample.",
     "By default whole slices are sampled; figures over time, reuse distances and what a partition holds are "
     "those of the sampled slices of the first seed's run."},
};

}  // namespace l2lens
