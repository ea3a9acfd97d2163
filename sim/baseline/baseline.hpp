// SPDX-License-Identifier: Apache-2.0
// What simpler models say of the same launch, shown beside the simulation so that its user sees what it adds.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/executor.hpp"
#include "kernel/kernel.hpp"
#include "machine/machine.hpp"
#include "memory/address_map.hpp"
#include "schedule/work.hpp"

namespace l2lens {

// Distinct boxes per wave of launch-consecutive CTAs: each is fetched once, everything else hits. Percent of
// the load bytes that hit. The formula behind most published swizzle advice.
double closed_form_hit_rate(const Work& work, std::span<const std::int32_t> launches, std::int64_t wave);

// One fully associative LRU of `capacity` bytes over whole boxes, the CTAs of a wave in lockstep step by
// step. Percent of the load bytes that hit.
double flat_lru_hit_rate(const Work& work, std::span<const std::int32_t> launches, std::int64_t wave,
                         std::int64_t capacity);

// Requested sectors by slice number, from the address hash alone.
std::vector<double> requested_per_slice(const Work& work, const AddressMap& map, Executor& executor);

// The busiest over the mean of all; 1 when there is nothing.
double max_over_mean(std::span<const double> loads);

}  // namespace l2lens
