// SPDX-License-Identifier: Apache-2.0
#include "report/details_json.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "report/json_meta.hpp"

namespace l2lens {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t kMostKept = 1u << 17;   // of a schedule that is kept: some 3 MB of text
constexpr std::int64_t kMostTicks = 1 << 16;  // of the time axis: finer than any picture of it

// A power of ten of nanoseconds.
std::int64_t tick_ns(double time_ns) {
    std::int64_t tick = 1;
    while (time_ns / static_cast<double>(tick) > kMostTicks) tick *= 10;
    return tick;
}

ordered_json schedule_json(const Prediction& prediction) {
    const std::int64_t tick = tick_ns(prediction.time_ns);
    const auto ticks = [tick](Picoseconds time) {
        return std::lround(static_cast<double>(time) / static_cast<double>(tick * kPsPerNs));
    };
    ordered_json sm = ordered_json::array();
    ordered_json start = ordered_json::array();
    ordered_json end = ordered_json::array();
    for (const CtaStay& stay : prediction.schedule) {
        sm.push_back(stay.sm);
        start.push_back(ticks(stay.start));
        end.push_back(ticks(stay.end));
    }
    return {{"tick_ns", tick},
            {"tile", prediction.tile_of_launch},
            {"sm", std::move(sm)},
            {"start", std::move(start)},
            {"end", std::move(end)}};
}

// What the page shows over time, in sectors of all lanes.
struct Series {
    const char* name;
    std::initializer_list<Event> events;
};
const Series kSeries[] = {
    {"merged", {Event::MergedSectors}},
    {"hit", {Event::TexReadHits}},
    {"copy", {Event::FabricReadHits}},
    {"dram_read", {Event::FillSectors}},
    {"fabric", {Event::FabricReadSectors, Event::FabricWriteSectors}},
    {"write", {Event::TexWriteSectors}},
    {"dram_write", {Event::WritebackSectors}},
};

ordered_json hit_rates_json(const RunDetails& details) {
    const Metric& metric = *find_metric("l2_hit_rate_pct");
    ordered_json rates = ordered_json::array();
    for (const TimeBin& bin : details.bins) {
        const bool looked_up = bin.events[Event::TexReadSectors] + bin.events[Event::TexWriteSectors] > 0;
        rates.push_back(looked_up ? json_of(std::nearbyint(metric.value(bin.events, {}) * 100) / 100)
                                  : ordered_json(nullptr));
    }
    return rates;
}

ordered_json traffic_json(const RunDetails& details) {
    ordered_json json{{"bin_ns", json_of(static_cast<double>(details.bin_length) / kPsPerNs)},
                      {"l2_hit_rate_pct", hit_rates_json(details)}};
    for (const Series& series : kSeries) {
        ordered_json& values = json[series.name] = ordered_json::array();
        for (const TimeBin& bin : details.bins) {
            double sectors = 0;
            for (const Event event : series.events) sectors += static_cast<double>(bin.events[event]);
            values.push_back(std::llround(sectors * details.scale));
        }
    }
    return json;
}

ordered_json misses_json(const MissClasses& misses) {
    return {{"compulsory", std::llround(misses.compulsory)},
            {"capacity", std::llround(misses.capacity)},
            {"copy", std::llround(misses.copy)},
            {"promotion", std::llround(misses.promotion)}};
}

ordered_json reuse_json(const PredictReport& report, const RunDetails& details) {
    ordered_json tensors = ordered_json::array();
    for (const TensorReuse& reuse : details.reuse) {
        ordered_json requests = ordered_json::array();
        for (const double count : reuse.requests) requests.push_back(std::llround(count));
        tensors.push_back({{"tensor", report.kernel.tensors[static_cast<std::size_t>(reuse.tensor)].name},
                           {"first_uses", std::llround(reuse.first_uses)},
                           {"requests", std::move(requests)}});
    }
    ordered_json lower = ordered_json::array();
    for (const double bytes : details.reuse_lower_bytes) lower.push_back(std::llround(bytes));
    return {{"share_of_lines", json_of(details.reuse_lines)},
            {"lower_bytes", std::move(lower)},
            {"tensors", std::move(tensors)}};
}

ordered_json slices_json(const RunDetails& details) {
    ordered_json lanes = ordered_json::array();
    for (const LaneLoad& load : details.lanes) {
        ordered_json sectors = ordered_json::array();
        for (const double count : load.slice_sectors) sectors.push_back(std::llround(count));
        lanes.push_back({{"slice", load.lane},
                         {"sectors", std::move(sectors)},
                         {"dram_read_sectors", std::llround(load.fill_sectors)}});
    }
    ordered_json requests = ordered_json::array();
    for (const double sectors : details.slice_requests) requests.push_back(std::llround(sectors));
    return {{"requested_sectors", std::move(requests)}, {"simulated", std::move(lanes)}};
}

// A text for each bin: partition by partition, panel by panel, one digit each.
ordered_json residency_json(const PredictReport& report, const RunDetails& details) {
    ordered_json panels = ordered_json::array();
    for (const PanelGroups& group : details.panels) {
        panels.push_back({{"tensor", report.kernel.tensors[static_cast<std::size_t>(group.of.tensor)].name},
                          {"by", group.of.by_row ? "row" : "column"},
                          {"tiles", group.tiles},
                          {"tiles_per_panel", group.tiles_per_group},
                          {"first", group.first},
                          {"panels", group.groups()}});
    }
    ordered_json held = ordered_json::array();
    for (const TimeBin& bin : details.bins) {
        std::string digits;
        for (const std::uint8_t share : bin.state) digits += digit64(share);
        held.push_back(std::move(digits));
    }
    return {{"whole", RunDetails::kWholePanel}, {"panels", std::move(panels)}, {"held", std::move(held)}};
}

}  // namespace

char digit64(int value) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return kDigits[static_cast<std::size_t>(std::clamp(value, 0, 63))];
}

ordered_json details_json(const PredictReport& report, const Prediction& prediction) {
    const RunDetails& details = *prediction.details;
    ordered_json json;
    if (prediction.schedule.size() <= kMostKept) json["schedule"] = schedule_json(prediction);
    json["traffic"] = traffic_json(details);
    if (details.misses) json["misses"] = misses_json(*details.misses);
    json["slices"] = slices_json(details);
    if (!details.reuse.empty()) json["reuse"] = reuse_json(report, details);
    const bool watched =
        !details.panels.empty() && !details.bins.empty() && !details.bins.back().state.empty();
    if (watched) json["residency"] = residency_json(report, details);
    return json;
}

}  // namespace l2lens
