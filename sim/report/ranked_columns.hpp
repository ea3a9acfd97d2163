// SPDX-License-Identifier: Apache-2.0
// The columns of the ranked table between the order's name and its time, in the terminal and on the page.
#pragma once

#include <string>

#include "report/format.hpp"

namespace l2lens {

// Which metric, and how it reads.
struct RankedColumn {
    const char* title;
    const char* id;
    std::string (*format)(double);
};

inline constexpr RankedColumn kRankedColumns[] = {
    {"L2 hit", "l2_hit_rate_pct", format_percent},
    {"flat LRU", "flat_lru_hit_rate_pct", format_percent},
    {"closed form", "closed_form_hit_rate_pct", format_percent},
    {"L2 sectors", "l2_sectors", format_count},
    {"merged", "merged_pct", format_percent},
    {"fabric", "fabric_pct", format_percent},
    {"DRAM read", "dram_read_bytes", format_bytes},
};

}  // namespace l2lens
