// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_run: run_live() from a shell, without the model. Rows in the format of the recorded files.
//
//   l2lens_gpu_run gemm m=8192 order=row_major order=group_m:8 mode=static metrics=recorded csv=rows.csv
//   l2lens_gpu_run gemm m=1408 n=1536 k=4096 cache=warm metrics=recorded
//   l2lens_gpu_run doctor
#include <cstdio>
#include <fstream>
#include <iostream>
#include <sstream>

#include "base/error.hpp"
#include "order/order.hpp"

#include "gpu/device.hpp"
#include "gpu/live/live.hpp"
#include "gpu/live/live_csv.hpp"

namespace l2lens::gpu {
namespace {

struct Request {
    LiveKernel kernel;
    std::vector<std::string> orders;
    std::vector<LaunchMode> modes;
    LiveOptions options;
    std::string csv;
    std::string schedule;
};

std::vector<std::string> split(const std::string& text) {
    std::vector<std::string> parts;
    std::istringstream in(text);
    for (std::string part; std::getline(in, part, ',');) parts.push_back(part);
    return parts;
}

CacheState parse_cache(const std::string& value) {
    if (value == "cold") return CacheState::Cold;
    if (value == "warm") return CacheState::Warm;
    throw BadInput("cache=" + value + ": it is cold or warm");
}

Request parse(int count, char** words) {
    Request request;
    request.kernel.name = words[1];
    for (int i = 2; i < count; ++i) {
        const std::string word = words[i];
        const auto equals = word.find('=');
        if (equals == std::string::npos) throw BadInput("'" + word + "' is not name=value");
        const std::string key = word.substr(0, equals);
        const std::string value = word.substr(equals + 1);
        if (key == "order")
            request.orders.push_back(value);
        else if (key == "mode")
            request.modes.push_back(parse_launch_mode(value));
        else if (key == "metrics")
            request.options.metrics = value == "recorded" ? recorded_metrics("GH100")
                                      : value == "none"   ? std::vector<std::string>{}
                                                          : split(value);
        else if (key == "repeats")
            request.options.repeats = std::stoi(value);
        else if (key == "timed")
            request.options.timed_launches = std::stoi(value);
        else if (key == "cache")
            request.options.cache = parse_cache(value);
        else if (key == "csv")
            request.csv = value;
        else if (key == "schedule")
            request.schedule = value;
        else
            request.kernel.params.emplace_back(key, value);
    }
    if (request.orders.empty()) request.orders = {"row_major"};
    if (request.modes.empty()) request.modes = {LaunchMode::Grid};
    request.options.record_schedule = !request.schedule.empty();
    return request;
}

void print_summary(const std::string& order, LaunchMode mode, const LiveResult& result) {
    std::printf("%s %s: %.1f us (%.1f-%.1f), %d CTAs per SM, %d passes\n", order.c_str(),
                mode_name(mode).c_str(), result.time_us, result.time_us_min, result.time_us_max,
                result.ctas_per_sm, result.passes);
    for (const CounterValue& c : result.counters)
        std::printf("    %-70s %16.2f  spread %6.2f %%\n", c.name.c_str(), c.median, c.spread_pct());
    std::fflush(stdout);
}

// Each band of the grid in the same order.
TileSequence over_bands(const TileSequence& of_band, const LiveShape& shape) {
    TileSequence order;
    for (std::int32_t band = 0; band < shape.outer; ++band)
        for (const TileCoord tile : of_band)
            order.push_back(tile == kNoTile ? tile
                                            : TileCoord{band * shape.band().rows + tile.row, tile.column});
    return order;
}

void measure(const Request& request) {
    const LiveShape shape = describe_live(request.kernel);
    OrderContext context;
    context.cluster_rows = shape.cluster_rows;
    context.cluster_columns = shape.cluster_columns;
    std::ofstream csv(request.csv);
    std::ofstream schedule(request.schedule);
    if (!request.schedule.empty()) write_schedule_header(schedule);
    bool first = true;
    for (const std::string& name : request.orders) {
        const TileSequence order = over_bands(make_order(name, shape.band(), context), shape);
        for (const LaunchMode mode : request.modes) {
            LiveOptions options = request.options;
            options.mode = mode;
            const LiveResult result = run_live(request.kernel, order, options);
            print_summary(name, mode, result);
            if (first) write_live_header(csv, result);
            first = false;
            write_live_row(csv, request.kernel, mode, name, result);
            if (!request.schedule.empty()) write_schedule(schedule, name + "_" + mode_name(mode), result);
        }
    }
}

void print_doctor() {
    const DeviceReport report = inspect_device();
    std::printf("built with: %s\ndriver: %s, CUDA %d\n", report.built_with.c_str(),
                report.driver_version.c_str(), report.cuda_version);
    for (const Finding& finding : report.findings)
        std::printf("%s %s%s%s\n", finding.level == Finding::Level::Good ? "ok     " : "MISSING",
                    finding.what.c_str(), finding.remedy.empty() ? "" : "; ", finding.remedy.c_str());
    std::printf("kernels: %s, counters: %s\n", report.can_run_kernels() ? "yes" : "no",
                report.can_read_counters() ? "yes" : "no");
}

}  // namespace
}  // namespace l2lens::gpu

int main(int argc, char** argv) {
    using namespace l2lens::gpu;
    try {
        if (argc < 2) throw l2lens::BadInput("usage: l2lens_gpu_run KERNEL [name=value ...] | doctor");
        if (std::string(argv[1]) == "doctor") {
            print_doctor();
            return 0;
        }
        measure(parse(argc, argv));
        return 0;
    } catch (const l2lens::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
