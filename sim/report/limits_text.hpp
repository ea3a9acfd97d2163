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
    {"The L1 and shared memory.", "Loads go from the L2 to the SM, as TMA and cp.async do."},
    {"Atomics and reductions,", "compression and L2 persistence controls."},
    {"The TLB,", "DRAM banks, rows, refresh and ECC: DRAM is a latency and a bandwidth."},
    {"The real slice hash.",
     "Only the bit that picks a line's home partition is known; strides that defeat the hardware's hash are "
     "not "
     "predicted to camp on a slice."},
    {"Power", "beyond one rule that lowers the SM clock with the achieved FLOP rate."},
    {"Anything else that runs:", "other kernels, copies, MPS, several GPUs, NVLink."},
    {"The instruction stream.", "Math is a number of cycles per step."},
    {"A sample.",
     "By default whole slices are sampled; figures over time, reuse distances and what a partition holds are "
     "those of "
     "the sampled slices of the first seed's run."},
};

}  // namespace l2lens
