// SPDX-License-Identifier: Apache-2.0
// Reads a machine file off the GPU in this machine: who sits in which GPC and partition, where an address is
// at home, how much there is, how long it takes and how fast it goes. Well under two minutes.
#pragma once

#include <functional>
#include <string>

#include "gpu/probe/report.hpp"

namespace l2lens::gpu {

// `progress` is told what is being measured next. Throws Unavailable without a GPU or its counters.
ProbeReport probe_gpu(const std::function<void(const std::string&)>& progress = {});

}  // namespace l2lens::gpu
