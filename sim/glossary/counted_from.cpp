// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "glossary/entry.hpp"
#include "glossary/event_notes.hpp"

namespace l2lens {
namespace {

// A run in which nothing is zero and no two numbers are alike.
Events some_events() {
    Events events;
    for (int e = 0; e < kEventCount; ++e)
        events[static_cast<Event>(e)] = 100'003u + 1'009u * static_cast<std::uint64_t>(e * e);
    return events;
}

RunTotals some_totals() {
    RunTotals totals;
    totals.time_ns = 1000;
    totals.sm_cycles = 2000;
    totals.slices = 8;
    totals.fence_sectors = 70'001;
    totals.l2_ghz = 1.5;
    totals.channel_max_over_mean = 1.1;
    totals.closed_form_hit_rate_pct = 50;
    totals.flat_lru_hit_rate_pct = 60;
    totals.ctas_per_sm = 2;
    totals.waves = 3;
    return totals;
}

struct TotalNote {
    double RunTotals::*member;
    std::string_view what;
};
constexpr TotalNote kTotals[] = {
    {&RunTotals::time_ns, "the time from launch to the last exit (Simulation::run), and launch.overhead"},
    {&RunTotals::sm_cycles, "SM cycles of the launch (Simulation::run_window)"},
    {&RunTotals::fence_sectors, "fences (fence_sectors())"},
    {&RunTotals::l2_ghz, "clock.l2"},
    {&RunTotals::channel_max_over_mean, "the hash over all lines of the kernel (channel_max_over_mean())"},
    {&RunTotals::closed_form_hit_rate_pct, "distinct boxes of each wave (closed_form_hit_rate())"},
    {&RunTotals::flat_lru_hit_rate_pct, "a list in order of use (flat_lru_hit_rate())"},
    {&RunTotals::ctas_per_sm, "the kernel's resources and the SM's (ctas_per_sm())"},
    {&RunTotals::waves, "the grid, the SMs and ctas_per_sm (predict())"}};

}  // namespace

std::string counted_from(const Metric& metric) {
    const Events events = some_events();
    const RunTotals totals = some_totals();
    const double before = metric.value(events, totals);
    std::string text;
    const auto add = [&](const std::string& what) { text += (text.empty() ? "" : ", ") + what; };
    for (int e = 0; e < kEventCount; ++e) {
        const auto event = static_cast<Event>(e);
        Events changed = events;
        changed[event] += 50'021;
        if (metric.value(changed, totals) == before) continue;
        add(std::string(event_note(event).name) + " (" + std::string(event_note(event).where) + ")");
    }
    for (const TotalNote& note : kTotals) {
        RunTotals changed = totals;
        changed.*note.member *= 1.5;
        if (metric.value(events, changed) != before) add(std::string(note.what));
    }
    RunTotals more_slices = totals;
    more_slices.slices *= 2;
    if (metric.value(events, more_slices) != before) add("l2.slices_per_partition");
    return text;
}

}  // namespace l2lens
