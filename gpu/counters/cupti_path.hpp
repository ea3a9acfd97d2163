// SPDX-License-Identifier: Apache-2.0
// Where CUPTI is on this machine. It ships with the CUDA toolkit, not with the driver, hence the search.
#pragma once

#include <optional>
#include <string>

#include "gpu/shared_library.hpp"

namespace l2lens::gpu {

// Opens CUPTI and, before it, the two libraries it opens by name itself. Empty when it is not installed.
std::optional<SharedLibrary> open_cupti();

// Its path and version (cuptiGetVersion), "" when it is not installed.
std::string find_cupti(int& version);

}  // namespace l2lens::gpu
