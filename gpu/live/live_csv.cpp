// SPDX-License-Identifier: Apache-2.0
#include "gpu/live/live_csv.hpp"

#include <cmath>
#include <cstdio>
#include <ostream>

#include "base/error.hpp"
#include "base/nearest.hpp"

namespace l2lens::gpu {
namespace {

const std::vector<std::string>& mode_names() {
    static const std::vector<std::string> names{"grid", "static", "dynamic"};
    return names;
}

// Counts as whole numbers, everything else with two decimals, as the recorded files have them.
std::string number(double value) {
    char text[64];
    const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
    std::snprintf(text, sizeof text, whole ? "%.0f" : "%.2f", value);
    return text;
}

// Orders such as lua:... hold commas and quotes: RFC 4180.
std::string quoted(const std::string& text) {
    if (text.find_first_of(",\"\n") == std::string::npos) return text;
    std::string result = "\"";
    for (const char c : text) {
        if (c == '"') result += '"';
        result += c;
    }
    return result + "\"";
}

}  // namespace

std::string mode_name(LaunchMode mode) {
    return mode_names()[static_cast<std::size_t>(mode)];
}

LaunchMode parse_launch_mode(const std::string& name) {
    for (std::size_t i = 0; i < mode_names().size(); ++i)
        if (mode_names()[i] == name) return static_cast<LaunchMode>(i);
    throw BadInput("no mode '" + name + "'" + suggestion(name, mode_names()));
}

void write_live_header(std::ostream& out, const LiveResult& result) {
    out << "kernel";
    for (const auto& [name, value] : result.shape.params) out << ',' << name;
    out << ",ctas_per_sm,mode,order,time_us";
    for (const CounterValue& counter : result.counters) out << ',' << counter.name;
    out << '\n';
}

void write_live_row(std::ostream& out, const LiveKernel& kernel, LaunchMode mode, const std::string& order,
                    const LiveResult& result) {
    out << kernel.name;
    for (const auto& [name, value] : result.shape.params) out << ',' << value;
    out << ',' << result.ctas_per_sm << ',' << mode_name(mode) << ',' << quoted(order) << ','
        << number(result.time_us);
    for (const CounterValue& counter : result.counters) out << ',' << number(counter.median);
    out << '\n';
}

void write_schedule_header(std::ostream& out) {
    out << "run,launch_id,sm,start_ns,end_ns\n";
}

void write_schedule(std::ostream& out, const std::string& run, const LiveResult& result) {
    for (const TileRecord& tile : result.schedule)
        if (tile.launch_id >= 0)
            out << quoted(run) << ',' << tile.launch_id << ',' << tile.sm << ',' << tile.start_ns << ','
                << tile.end_ns << '\n';
}

}  // namespace l2lens::gpu
