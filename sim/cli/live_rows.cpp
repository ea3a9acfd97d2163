// SPDX-License-Identifier: Apache-2.0
#include "cli/live_rows.hpp"

#include <algorithm>
#include <sstream>

#include <fmt/format.h>

#include "base/error.hpp"
#include "base/nearest.hpp"
#include "cli/arguments.hpp"
#include "cli/file_output.hpp"
#include "cli/interrupt.hpp"
#include "cli/model_run.hpp"
#include "cli/progress.hpp"
#include "cli/record_file.hpp"
#include "load/kernel_file.hpp"
#include "load/machine_of_gpu.hpp"
#include "report/predict_report.hpp"
#include "report/schedule_csv.hpp"

#include "gpu/device.hpp"
#include "gpu/live/live.hpp"
#include "gpu/live/live_csv.hpp"

namespace l2lens::cli {
namespace {

using Words = std::vector<std::string>;

// One launch to measure: a mode, and an order with the tiles it launches.
struct Launch {
    std::string order;
    Mode mode = Mode::Grid;
    TileSequence tiles;
};

gpu::LaunchMode launch_mode(Mode mode) {
    return gpu::parse_launch_mode(std::string(mode_name(mode)));
}

std::vector<Mode> modes_of(const Words& lists) {
    std::vector<Mode> modes;
    for (const std::string& list : lists) {
        std::istringstream in(list + ",");
        for (std::string name; std::getline(in, name, ',');) {
            const Mode mode = parse_mode(name);
            if (std::find(modes.begin(), modes.end(), mode) == modes.end()) modes.push_back(mode);
        }
    }
    return modes.empty() ? std::vector{Mode::Grid} : modes;
}

// The parameters as pairs; mode=... among them stands for --mode, as it does for `predict`.
gpu::ParamList take_params(const LiveArguments& arguments, Words& modes) {
    gpu::ParamList params;
    for (const std::string& word : arguments.params) {
        const std::size_t equals = word.find('=');
        if (equals == std::string::npos || equals == 0)
            throw BadInput(fmt::format("{}: '{}' is not name=value", arguments.kernel, word));
        const std::string name = word.substr(0, equals), value = word.substr(equals + 1);
        if (name != "mode") {
            params.emplace_back(name, value);
            continue;
        }
        if (!modes.empty())
            throw BadInput(
                fmt::format("{}: mode={} and --mode contradict each other", arguments.kernel, value));
        modes = {value};
    }
    return params;
}

Words as_words(const gpu::ParamList& params) {
    Words words;
    for (const auto& [name, value] : params) words.push_back(name + "=" + value);
    return words;
}

TileSequence tiles_of(const NamedOrder& order, std::int32_t columns) {
    TileSequence tiles;
    tiles.reserve(order.tile_of_launch.size());
    for (const std::int32_t tile : order.tile_of_launch)
        tiles.push_back(tile < 0 ? kNoTile : TileCoord{tile / columns, tile % columns});
    return tiles;
}

// The orders over the model's grid, which is the GPU's: both are made of the same parameters.
std::vector<Launch> plan_launches(const LiveArguments& arguments, const std::vector<Mode>& modes,
                                  const gpu::LiveShape& shape, const Machine& machine, const Output& output) {
    const Words orders = arguments.orders.empty() ? Words{"common"} : arguments.orders;
    std::vector<Launch> launches;
    for (const Mode mode : modes) {
        const LaunchedKernel launched =
            load_launched(arguments.kernel, as_words(shape.params), std::string(mode_name(mode)), machine);
        const Kernel& kernel = launched.kernel;
        if (kernel.outer_tiles() != shape.outer || kernel.tile_rows() != shape.band().rows ||
            kernel.tile_columns() != shape.band().columns) {
            throw BadInput(arguments.kernel +
                           ": the model's kernel has another tile grid than the one on the GPU");
        }
        for (const NamedOrder& order : named_orders(orders, machine, kernel, mode,
                                                    [&](const std::string& text) { output.note(text); })) {
            if (order.name == "random") throw BadInput("--order random: say which, as in random:1");
            launches.push_back({order.name, mode, tiles_of(order, shape.grid.columns)});
        }
    }
    return launches;
}

void note_other_gpu(const Machine& machine, const gpu::GpuInfo& gpu, const Output& output) {
    // A file of one's own may have its GPU in its description.
    if (names_gpu(machine.name, gpu.name) || machine.description.find(gpu.name) != std::string::npos) return;
    output.note(fmt::format("measured on {}, predicted for {}; see --gpu, or l2lens gpu probe -o FILE.toml",
                            gpu.name, machine.name));
}

std::string csv_header(const gpu::LiveShape& shape, const Words& metrics) {
    gpu::LiveResult columns;
    columns.shape = shape;
    for (const std::string& metric : metrics) columns.counters.push_back({metric});
    std::ostringstream text;
    gpu::write_live_header(text, columns);
    return text.str();
}

std::string schedule_header() {
    std::ostringstream text;
    gpu::write_schedule_header(text);
    return text.str();
}

RecordedRow row_of(const std::string& kernel, const Launch& launch, const gpu::LiveResult& result) {
    RecordedRow row;
    row.file = "live on " + result.gpu;
    row.kernel = kernel;
    row.params = result.shape.params;
    row.mode = launch.mode;
    row.order = launch.order;
    row.ctas_per_sm = result.ctas_per_sm;
    if (result.time_us > 0) row.measured["time_us"] = result.time_us;
    for (const gpu::CounterValue& counter : result.counters) row.measured[counter.name] = counter.median;
    return row;
}

// Says what is wrong with the parameters before a GPU is asked for. The kernels of gpu/kernels that have a
// pipeline are warp-specialized.
void check_params(const gpu::LiveKernel& kernel, Mode mode, const Machine& machine) {
    Words words = as_words(kernel.params);
    const bool given = std::any_of(kernel.params.begin(), kernel.params.end(),
                                   [](const auto& param) { return param.first == "pipeline"; });
    if (!given && describe_kernel(kernel.name).declares("pipeline"))
        words.push_back("pipeline=warp_specialized");
    load_launched(kernel.name, words, std::string(mode_name(mode)), machine);
}

}  // namespace

std::string machine_of_this_gpu() {
    const std::vector<gpu::GpuInfo> gpus = gpu::list_gpus();
    return gpus.empty() ? "" : machine_of_gpu(gpus.front().name, gpus.front().sms);
}

std::vector<RecordedRow> measure_live(const LiveArguments& arguments, const Machine& machine,
                                      const Output& output) {
    Words mode_lists = arguments.modes;
    gpu::LiveKernel kernel{arguments.kernel, take_params(arguments, mode_lists)};
    const std::vector<Mode> modes = modes_of(mode_lists);
    gpu::LiveOptions options;
    options.repeats = static_cast<int>(parse_whole("--repeats", arguments.repeats, 1, 1000));
    options.record_schedule = !arguments.record_schedule.empty();
    if (!arguments.record.empty()) check_writable(arguments.record, "--record");
    if (!arguments.record_schedule.empty()) check_writable(arguments.record_schedule, "--record-schedule");
    check_params(kernel, modes.front(), machine);

    const gpu::LiveShape shape = gpu::describe_live(kernel);
    const std::vector<Launch> launches = plan_launches(arguments, modes, shape, machine, output);
    RecordFile schedules(arguments.record_schedule, "--record-schedule", schedule_header());
    gpu::require_gpu();
    gpu::require_counters();
    const gpu::GpuInfo gpu = gpu::inspect_device().gpus.front();
    note_other_gpu(machine, gpu, output);
    options.metrics = gpu::recorded_metrics(gpu.chip);
    RecordFile record(arguments.record, "--record", csv_header(shape, options.metrics));

    std::vector<RecordedRow> rows;
    Progress progress("measuring", launches.size(), output.quiet());
    for (std::size_t i = 0; i < launches.size(); ++i) {
        throw_if_interrupted();
        const Launch& launch = launches[i];
        options.mode = launch_mode(launch.mode);
        const gpu::LiveResult result = gpu::run_live(kernel, launch.tiles, options);
        std::ostringstream row, schedule;
        gpu::write_live_row(row, kernel, options.mode, launch.order, result);
        gpu::write_schedule(schedule, schedule_run_name(launch.order, launch.mode), result);
        record.add(row.str());
        schedules.add(schedule.str());
        rows.push_back(row_of(kernel.name, launch, result));
        rows.back().line = i + 1;
        progress.finish(i);
    }
    record.write();
    schedules.write();
    return rows;
}

}  // namespace l2lens::cli
