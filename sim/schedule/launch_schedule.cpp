// SPDX-License-Identifier: Apache-2.0
#include "schedule/launch_schedule.hpp"

#include <algorithm>
#include <limits>

namespace l2lens {

LaunchSchedule by_launch_id(std::span<const std::int32_t> tile_of_launch,
                            std::span<const CtaStay> stay_of_tile) {
    LaunchSchedule schedule;
    Picoseconds first = std::numeric_limits<Picoseconds>::max();
    for (const std::int32_t tile : tile_of_launch) {
        schedule.push_back(tile < 0 ? CtaStay{} : stay_of_tile[static_cast<std::size_t>(tile)]);
        if (tile >= 0) first = std::min(first, schedule.back().start);
    }
    for (CtaStay& stay : schedule) {
        if (stay.sm < 0) continue;
        stay.start -= first;
        stay.end -= first;
    }
    return schedule;
}

}  // namespace l2lens
