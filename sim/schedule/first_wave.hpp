// SPDX-License-Identifier: Apache-2.0
// In which order a launch's first wave comes to the SMs. CTAs fill one GPC after the other, clusters go by SM
// ids, from one GPC to the next. On Hopper each launch begins on another GPC (launch.rotates), all but some
// SMs that are a unit apart to the hardware and come first in any (H200: SMs 124 to 131). Where CTAs stay on
// their SMs, that decides to the end which columns of a row-major launch a side of the L2 reads.
#pragma once

#include <compare>
#include <cstdint>
#include <vector>

#include "machine/machine.hpp"

namespace l2lens {

class FirstWave {
public:
    // A seed stands for a launch: the seeds 0 to 7 of a GPU of eight GPCs begin on GPC 3, 7, 5, 1, 4, 0, 6
    // and 2, so that means over few of them are means over GPCs.
    FirstWave(const Machine& machine, std::uint64_t seed);

    // The smaller, the sooner; of two SMs never the same.
    struct Turn {
        int apart;  // 0: one of those that come first in any launch
        int round;  // of clusters, one for each GPC
        int gpc;    // its place in the ring
        int place;
        friend auto operator<=>(const Turn&, const Turn&) = default;
    };
    Turn of_cta(std::int32_t sm) const;
    // Of a cluster whose first CTA is on the SM.
    Turn of_cluster(std::int32_t sm) const;

private:
    const Machine& machine_;
    int apart_;                         // SMs that come first in any launch
    std::vector<int> turn_of_gpc_;      // 0 of all where launches begin alike
    std::vector<std::uint8_t> number_;  // [sm] numbers_in_gpcs()
};

}  // namespace l2lens
