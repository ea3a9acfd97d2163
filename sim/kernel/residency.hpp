// SPDX-License-Identifier: Apache-2.0
// How many CTAs of a kernel run on one SM: what CUDA's occupancy calculator answers.
#pragma once

#include <string>

#include "kernel/kernel.hpp"
#include "machine/machine.hpp"

namespace l2lens {

// 0 when not even one fits.
int ctas_per_sm(const Resources& resources, const Machine& machine);

// The L1 that `ctas` resident CTAs leave on an SM: where it holds the shared memory, too, that is taken out
// in the sizes the driver configures.
std::int64_t l1_bytes(const Resources& resources, int ctas, const Machine& machine);

// "" when one fits, else why not: "needs 264 KiB of shared memory per CTA, h200 has 227 KiB".
std::string why_no_cta_fits(const Resources& resources, const Machine& machine);

}  // namespace l2lens
