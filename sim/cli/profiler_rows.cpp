// SPDX-License-Identifier: Apache-2.0
#include "cli/profiler_rows.hpp"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/file_roles.hpp"
#include "cli/launch_map.hpp"
#include "cli/ncu_check.hpp"
#include "report/format.hpp"

#include "gpu/counters/ncu_csv.hpp"
#include "gpu/counters/rocprof_csv.hpp"

namespace l2lens::cli {
namespace {

struct Profiled {
    std::string file;
    gpu::ImportedLaunch launch;
};

std::vector<Profiled> read_launches(const ProfilerArguments& arguments) {
    std::vector<Profiled> all;
    const auto add = [&](const std::string& file, std::vector<gpu::ImportedLaunch> launches) {
        for (gpu::ImportedLaunch& launch : launches) all.push_back({file, std::move(launch)});
    };
    for (const std::string& file : arguments.ncu) will_read(file);
    for (const std::string& file : arguments.rocprof) will_read(file);
    for (const std::string& file : arguments.ncu) {
        add(file, gpu::read_ncu_csv(file));
        check_ncu(file);
    }
    std::vector<std::vector<gpu::ImportedLaunch>> passes;
    for (const std::string& file : arguments.rocprof) passes.push_back(gpu::read_rocprof_csv(file));
    if (!passes.empty()) add(arguments.rocprof.front(), gpu::merge_rocprof_passes(passes));
    return all;
}

// Nsight Compute puts the device's and the launch's properties among the metrics.
bool is_property(const std::string& name) {
    for (const char* group : {"device__", "launch__", "profiler__", "nvlink__", "numa__", "c2clink__"}) {
        if (name.starts_with(group)) return true;
    }
    return false;
}

// AMD's TCC is the L2 of an XCD. Its hits and misses are requests of a line; for kernels that ask for whole
// lines their ratio is the sectors', so it can stand beside the model's hit rate. The duration is the
// dispatch's.
void add_neutral(std::map<std::string, double>& measured) {
    const auto hits = measured.find("TCC_HIT_sum"), misses = measured.find("TCC_MISS_sum");
    if (hits != measured.end() && misses != measured.end() && hits->second + misses->second > 0)
        measured["lts__t_sector_hit_rate.pct"] = 100 * hits->second / (hits->second + misses->second);
    const auto duration = measured.find("duration_ns");
    if (duration != measured.end()) measured["gpu__time_duration.sum"] = duration->second;
}

void check_counts(const RecordedRow& row) {
    for (const auto& [name, value] : row.measured) {
        if (value < 0)
            throw BadInput(
                fmt::format("{}: '{}': {} is negative, which no counter is", row.where(), name, value));
    }
}

RecordedRow row_of(const Profiled& profiled, const LaunchRule& rule) {
    RecordedRow row = rule.launch;
    row.file = profiled.file;
    row.line = static_cast<std::size_t>(std::max(profiled.launch.line, 0));
    for (const auto& [name, value] : profiled.launch.metrics) {
        if (!is_property(name)) row.measured[name] = value;
    }
    add_neutral(row.measured);
    check_counts(row);
    return row;
}

void note_unmapped(const std::map<std::string, int>& unmapped, const Output& output) {
    for (const auto& [kernel, launches] : unmapped) {
        output.note(fmt::format("no --as for {} launch{} of {}", launches, launches == 1 ? "" : "es",
                                one_line(kernel, 120)));
    }
}

void note_unused(const std::vector<LaunchRule>& rules, const std::vector<const LaunchRule*>& used,
                 const Output& output) {
    for (const LaunchRule& rule : rules) {
        if (std::find(used.begin(), used.end(), &rule) == used.end())
            output.note(rule.where + " matches no launch");
    }
}

}  // namespace

std::vector<RecordedRow> read_profiled(const ProfilerArguments& arguments, const Machine& machine,
                                       const Output& output) {
    const std::vector<Profiled> launches = read_launches(arguments);
    const std::vector<LaunchRule> rules = launch_rules(arguments.as, arguments.map, machine);
    std::vector<RecordedRow> rows;
    std::vector<const LaunchRule*> used;
    std::map<std::string, int> unmapped;
    for (const Profiled& profiled : launches) {
        const LaunchRule* rule = find_rule(rules, profiled.launch.kernel);
        if (rule == nullptr) {
            ++unmapped[profiled.launch.kernel];
            continue;
        }
        used.push_back(rule);
        rows.push_back(row_of(profiled, *rule));
    }
    if (rows.empty()) {
        throw BadInput(fmt::format(
            "none of {} launches is mapped; --as 'REGEX=KERNEL param=value ... order=...' says "
            "what '{}' is",
            launches.size(), launches.empty() ? "" : one_line(launches.front().launch.kernel, 80)));
    }
    note_unmapped(unmapped, output);
    note_unused(rules, used, output);
    return rows;
}

}  // namespace l2lens::cli
