// SPDX-License-Identifier: Apache-2.0
#include "schedule/dispatcher.hpp"

#include <algorithm>

namespace l2lens {

Dispatcher::Dispatcher(const Machine& machine, std::span<const std::int32_t> launches, Mode mode,
                       int ctas_per_sm)
    : launches_(launches),
      mode_(mode),
      gap_(from_ns(mode == Mode::Grid ? machine.launch.cta_gap_ns : machine.launch.persistent_gap_ns)),
      stagger_(from_ns(machine.launch.stagger_ns)) {
    std::vector<std::int32_t> sm_at(machine.sms.size());
    for (std::size_t sm = 0; sm < machine.sms.size(); ++sm) {
        sm_at[static_cast<std::size_t>(machine.sms[sm].first_wave_position)] = static_cast<std::int32_t>(sm);
    }
    const int rounds = mode == Mode::Grid ? ctas_per_sm : 1;
    for (int round = 0; round < rounds; ++round) {
        for (std::int32_t sm : sm_at) first_slots_.push_back(sm * ctas_per_sm + round);
    }
    static_next_.assign(machine.sms.size() * static_cast<std::size_t>(ctas_per_sm), -1);
    for (std::size_t i = 0; i < first_slots_.size(); ++i) {
        static_next_[static_cast<std::size_t>(first_slots_[i])] = static_cast<std::int64_t>(i);
    }
}

std::vector<Start> Dispatcher::first_wave() {
    for (std::size_t i = 0; i < first_slots_.size(); ++i) {
        // Keyed by launch id through the time, so that launch-consecutive CTAs get consecutive slots.
        free_.push(
            {static_cast<Picoseconds>(i) * std::max<Picoseconds>(stagger_, 1) - gap_, first_slots_[i]});
    }
    return follow({}, 0);
}

std::vector<Start> Dispatcher::follow(std::span<const Exit> exits, Picoseconds not_before) {
    for (const Exit& exit : exits) free_.push({exit.time, exit.slot});
    std::vector<Start> starts;
    while (!free_.empty()) {
        const FreeSlot slot = free_.top();
        free_.pop();
        const std::int64_t launch = next_launch(slot.slot);
        if (launch < 0) continue;
        ++launched_;
        const Picoseconds time = std::max(slot.time + gap_, not_before);
        const std::int32_t tile = launches_[static_cast<std::size_t>(launch)];
        if (tile < 0) {
            free_.push({time, slot.slot});
        } else {
            starts.push_back({time, slot.slot, tile});
        }
    }
    return starts;
}

std::int64_t Dispatcher::next_launch(std::int32_t slot) {
    const auto total = static_cast<std::int64_t>(launches_.size());
    if (mode_ == Mode::Static) {
        std::int64_t& next = static_next_[static_cast<std::size_t>(slot)];
        if (next < 0 || next >= total) return -1;
        const std::int64_t launch = next;
        next += static_cast<std::int64_t>(first_slots_.size());
        return launch;
    }
    return next_ < total ? next_++ : -1;
}

}  // namespace l2lens
