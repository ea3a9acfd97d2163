// SPDX-License-Identifier: Apache-2.0
// Which steps of a phase the tile engine takes as one: a CTA that has filled its pipeline asks for the boxes
// of several steps at the pace of its math, so that one event stands for all of them.
//
// A CTA's loads run `lead` steps ahead of its math. The first `lead` steps of a phase fill the pipeline, and
// each is a unit of its own; of the steps after them `steps_of_unit` are one. It divides the lead, so that
// what lets a unit's loads leave is exactly one earlier unit, or as many single steps; or it is twice the
// lead, and the later half of its loads leaves at the pace of its own earlier steps' math.
#pragma once

#include <algorithm>
#include <cstdint>

#include "schedule/work.hpp"

namespace l2lens {

class StepUnits {
public:
    StepUnits() = default;  // every step by itself

    // For CTAs that share their SM with `ctas_per_sm` - 1 others. Every step by itself where CTAs are not
    // alone (below), and where several steps would not be alike: tensors that CTAs walk from different places
    // or with different strides, and walks of which two steps have lines in common.
    static StepUnits of(const Work& work, int ctas_per_sm);

    std::int64_t steps_of_unit() const { return steps_of_unit_; }

    // Units of a phase of so many steps.
    std::int64_t units(std::int64_t steps) const {
        if (steps <= lead_) return steps;
        return lead_ + (steps - lead_ + steps_of_unit_ - 1) / steps_of_unit_;
    }
    // The first step of a unit.
    std::int64_t begin(std::int64_t unit) const {
        return unit <= lead_ ? unit : lead_ + (unit - lead_) * steps_of_unit_;
    }
    // The steps of a unit, in a phase of so many.
    std::int64_t length(std::int64_t unit, std::int64_t steps) const {
        return length_of(unit, steps - begin(unit));
    }
    // The same of a unit from which on `left` steps of its phase are left.
    std::int64_t length_of(std::int64_t unit, std::int64_t left) const {
        return std::min(unit < lead_ ? 1 : steps_of_unit_, left);
    }

private:
    StepUnits(std::int64_t lead, std::int64_t steps_of_unit) : lead_(lead), steps_of_unit_(steps_of_unit) {}

    std::int64_t lead_ = 1;
    std::int64_t steps_of_unit_ = 1;
};

// Does a CTA meet others at the ports and in the L2 only, and do its own math's steps alone set its loads
// free? Others meet at the tensor cores, in a cluster, or as producers at their consumers, or have a thread
// that asks for boxes no faster than it can.
inline bool ctas_are_alone(const Kernel& kernel, int ctas_per_sm) {
    return ctas_per_sm == 1 && kernel.ctas_of_cluster() == 1 && kernel.pipeline == Pipeline::Multistage &&
           kernel.stages > 1 && kernel.load_interval_cycles <= 0;
}

// Steps by which a CTA's loads run ahead of what sets their stage free: see Gpc.
inline std::int64_t load_lead(const Kernel& kernel) {
    return kernel.pipeline == Pipeline::WarpSpecialized ? kernel.stages : std::max(kernel.stages - 1, 1);
}

}  // namespace l2lens
