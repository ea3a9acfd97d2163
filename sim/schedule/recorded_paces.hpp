// SPDX-License-Identifier: Apache-2.0
// How fast a recorded launch went through its tiles: CTAs of a replay ask for no step sooner than if the
// steps of its tile had taken equally long from the recorded start to the recorded end.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/units.hpp"
#include "schedule/launch_schedule.hpp"
#include "schedule/program_cursor.hpp"
#include "schedule/work.hpp"

namespace l2lens {

class RecordedPaces {
public:
    // Of the launch `tile_of_launch` (launch id -> tile, -1: none) that began at `launched_at`.
    RecordedPaces(const Work& work, std::span<const std::int32_t> tile_of_launch,
                  const LaunchSchedule& schedule, Picoseconds launched_at);

    // When the loads of the step at `cursor` may leave at the earliest.
    Picoseconds earliest(const ProgramCursor& cursor) const;

private:
    struct Pace {
        Picoseconds start = 0;
        Picoseconds step = 0;
    };

    const Work& work_;
    std::vector<Pace> of_tile_;
};

}  // namespace l2lens
