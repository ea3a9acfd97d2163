// SPDX-License-Identifier: Apache-2.0
// A kernel launch that another profiler counted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>

namespace l2lens::gpu {

struct ImportedLaunch {
    std::string kernel;
    std::array<std::int64_t, 3> grid{1, 1, 1};   // thread blocks (rocprofv3: work-items, in x)
    std::array<std::int64_t, 3> block{1, 1, 1};  // threads
    std::map<std::string, double> metrics;  // vendor's name -> value in base units: bytes, ns, Hz, percent
    int line = 0;                           // where it begins in the file
};

}  // namespace l2lens::gpu
