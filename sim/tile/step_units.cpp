// SPDX-License-Identifier: Apache-2.0
#include "tile/step_units.hpp"

#include <cstdlib>
#include <optional>
#include <vector>

namespace l2lens {
namespace {

// More in a unit would hide too much of what happens between them. With a lead of three, six are as close to
// lines over traces/h200/gemm.csv as three, and take little more than half of their time; nine are not.
constexpr std::int64_t kMostSteps = 6;
// With a shorter one steps wait for their loads: in units of twice the lead a tenth less merges (three stages
// of gemm.csv), or launches take 9 % less time (two of gemm_more.csv).
constexpr std::int64_t kLongLead = 3;
// In a shorter phase how the pipeline fills counts for more (time of 32 steps is 2.5 % off, by threes 1.7),
// and there is little to save.
constexpr std::int64_t kLongPhase = 48;

// Do no two steps of the walk have a line in common?
bool steps_are_apart(const Tensor& tensor, const BoxWalk& walk) {
    const auto inner = static_cast<std::size_t>(tensor.rank - 1);
    for (std::size_t d = 0; d < inner; ++d) {
        if (tensor.stride_bytes[d] % kLineBytes != 0) return false;
        if (std::abs(walk.step[d]) >= walk.extent[d]) return true;
    }
    const std::int64_t step = walk.step[inner] * tensor.element_bytes;
    return std::abs(walk.step[inner]) >= walk.extent[inner] && step % kLineBytes == 0 &&
           walk.start[inner] * tensor.element_bytes % kLineBytes == 0;
}

// Do two walks over a tensor put their units at the same places?
bool alike(const BoxWalk& a, const BoxWalk& b) {
    if (a.step != b.step) return false;
    for (std::size_t d = 0; d < a.step.size(); ++d) {
        if (a.step[d] != 0 && a.start[d] != b.start[d]) return false;
    }
    return true;
}

bool can_be_joined(const Work& work) {
    std::vector<std::optional<std::int32_t>> first_walk(work.kernel().tensors.size());
    for (std::int32_t id = 0; id < static_cast<std::int32_t>(work.walks()); ++id) {
        const BoxWalk& walk = work.walk(id);
        const auto tensor = static_cast<std::size_t>(walk.tensor);
        if (work.walk_steps(id) > 1 && !steps_are_apart(work.kernel().tensors[tensor], walk)) return false;
        if (work.walk_stores(id)) continue;
        std::optional<std::int32_t>& first = first_walk[tensor];
        if (!first) first = id;
        if (work.walk_steps(id) != work.walk_steps(*first) || !alike(walk, work.walk(*first))) return false;
    }
    return true;
}

// Is every phase that is longer than the lead a long one of tensor math? Its pace then says when loads leave
// that wait for steps of their own unit.
bool math_sets_the_pace(const Work& work, std::int64_t lead) {
    for (std::size_t tile = 0; tile < work.kernel().programs.size(); ++tile) {
        for (const Work::Phase& phase : work.program(static_cast<std::int32_t>(tile))) {
            if (phase.count > lead && (phase.math_flops <= 0 || phase.count < kLongPhase)) return false;
        }
    }
    return true;
}

}  // namespace

StepUnits StepUnits::of(const Work& work, int ctas_per_sm) {
    if (!ctas_are_alone(work.kernel(), ctas_per_sm) || !can_be_joined(work)) return {};
    const std::int64_t lead = load_lead(work.kernel());
    if (lead >= kLongLead && 2 * lead <= kMostSteps && math_sets_the_pace(work, lead))
        return {lead, 2 * lead};
    std::int64_t steps = std::min(lead, kMostSteps);
    while (lead % steps != 0) --steps;
    return {lead, steps};
}

}  // namespace l2lens
