// SPDX-License-Identifier: Apache-2.0
#include "schedule/recorded_paces.hpp"

#include <algorithm>

namespace l2lens {

RecordedPaces::RecordedPaces(const Work& work, std::span<const std::int32_t> tile_of_launch,
                             const LaunchSchedule& schedule, Picoseconds launched_at)
    : work_(work), of_tile_(work.kernel().programs.size()) {
    const Picoseconds epilogue = from_ns(work.kernel().epilogue_ns);
    for (std::size_t id = 0; id < tile_of_launch.size(); ++id) {
        const std::int32_t tile = tile_of_launch[id];
        if (tile < 0) continue;
        const CtaStay& stay = schedule[id];
        const Picoseconds of_steps = std::max(stay.end - stay.start - epilogue, Picoseconds{0});
        of_tile_[static_cast<std::size_t>(tile)] = {launched_at + stay.start,
                                                    of_steps / std::max<std::int64_t>(work.steps(tile), 1)};
    }
}

// A stage is loaded again when the step that had it is over, so those of a ring leave at once.
Picoseconds RecordedPaces::earliest(const ProgramCursor& cursor) const {
    const auto program = work_.program(cursor.tile);
    std::int64_t step = cursor.in_phase - work_.kernel().stages;
    for (std::uint32_t phase = 0; phase < cursor.phase; ++phase) step += program[phase].count;
    const Pace& pace = of_tile_[static_cast<std::size_t>(cursor.tile)];
    return pace.start + std::max<std::int64_t>(step, 0) * pace.step;
}

}  // namespace l2lens
