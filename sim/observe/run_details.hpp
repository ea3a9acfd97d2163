// SPDX-License-Identifier: Apache-2.0
// What a report draws of one run, beyond its counters. Counts are those of the simulated lanes: times `scale`
// they stand for all.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/units.hpp"
#include "counters/counters.hpp"

#include "observe/kernel_lines.hpp"
#include "observe/reuse_histogram.hpp"
#include "observe/timeline.hpp"

namespace l2lens {

// Why sectors were brought into the partition that asked for them.
struct MissClasses {
    double compulsory = 0;  // the first time, of a cold L2: no cache avoids them
    double capacity = 0;    // from DRAM again: they, or their set, had no room
    double copy = 0;        // the other partition had them: a copy crossed the fabric
    double promotion = 0;   // from DRAM, although no CTA asks for them: the fetch granularity

    double all() const { return compulsory + capacity + copy + promotion; }
};

// One lane of the L2 that was simulated.
struct LaneLoad {
    int lane = 0;                       // the slice's number inside each partition
    std::vector<double> slice_sectors;  // looked up, per partition
    double fill_sectors = 0;            // from DRAM, by all partitions
};

struct RunDetails {
    double scale = 1;
    Picoseconds bin_length = 0;
    std::vector<TimeBin> bins;           // state: see residency
    std::vector<double> slice_requests;  // sectors that CTAs ask for, by slice number; of all lines
    // Line engine:
    std::vector<LaneLoad> lanes;
    std::vector<double> reuse_lower_bytes;  // where the bins of `reuse` begin
    std::vector<TensorReuse> reuse;         // of every tensor that is used; scaled already
    double reuse_lines = 0;                 // lines looked at for one line of the tensors: 1/64 ...
    // The state of a bin: for each partition, for each group of panels, the share of its sectors that the
    // partition holds, 0 .. kWholePanel.
    static constexpr int kWholePanel = 63;
    std::vector<PanelGroups> panels;
    std::optional<MissClasses> misses;  // scaled already; not known of tensors that are too large to watch
};

}  // namespace l2lens
