// SPDX-License-Identifier: Apache-2.0
#include "gpu/probe/bench.hpp"

#include <cmath>
#include <cstdio>

#include "base/error.hpp"

#include "gpu/counters/metric_names.hpp"
#include "gpu/device.hpp"

namespace l2lens::gpu {
namespace {

constexpr const char* kMetrics[] = {
    "lts__t_sectors.sum",
    "lts__t_sectors.max",
    "lts__t_requests.sum",
    "lts__t_sectors_srcunit_tex.sum",
    "lts__t_sectors_srcunit_tex_lookup_miss.sum",
    "lts__t_sectors_srcunit_ltcfabric.sum",
    "lts__d_sectors_fill_device.sum",
    "dram__sectors_read.sum",
    "dram__cycles_elapsed.sum",
    "dram__cycles_elapsed.avg",
    "lrc__request_sectors_op_read_coalescable.sum",
    "lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum",
    "lts__cycles_elapsed.sum",
    "lts__cycles_elapsed.avg",
    "sm__cycles_active.max",
    "gpu__time_duration.sum",
};

std::vector<std::string> metrics_here() {
    const auto bases = metrics_of_chip(current_chip());
    std::vector<std::string> metrics;
    for (const std::string metric : kMetrics)
        if (std::binary_search(bases.begin(), bases.end(), metric.substr(0, metric.find('.'))))
            metrics.push_back(metric);
    return metrics;
}

}  // namespace

ProbeBench::ProbeBench() {
    require_counters();
    int device = 0;
    int khz = 0;
    check_cuda(cudaGetDevice(&device), "asking for the current device");
    check_cuda(cudaGetDeviceProperties(&properties_, device), "asking for the GPU's properties");
    check_cuda(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, device), "asking for the SM clock");
    sm_ghz_ = khz / 1e6;
    constexpr std::int64_t kAlignment = std::int64_t{32} << 20;
    memory_ = DeviceBuffer<char>(static_cast<std::size_t>(kBufferBytes + kAlignment));
    memory_.fill_bytes(0);
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
    buffer_ = memory_.get() + (kAlignment - static_cast<std::int64_t>(address % kAlignment)) % kAlignment;
    flush_ = DeviceBuffer<char>(static_cast<std::size_t>(properties_.l2CacheSize) * 4);
    flush_.fill_bytes(0);
    session_ = std::make_unique<CounterSession>(metrics_here());
    report.description = properties_.name;
    report.chip = session_->chip();
}

Counters ProbeBench::count(const std::function<void()>& launch, const std::function<void()>& prepare) {
    const auto values = session_->measure(launch, prepare);
    Counters counters;
    for (std::size_t i = 0; i < values.size(); ++i) counters[session_->metrics()[i]] = values[i];
    return counters;
}

std::vector<int> ProbeBench::sms_of_partition(int partition) const {
    std::vector<int> members;
    for (int sm = 0; sm < sms(); ++sm)
        if (partition_of_sm.empty() || partition_of_sm[static_cast<std::size_t>(sm)] == partition)
            members.push_back(sm);
    return members;
}

void ProbeBench::found(const std::string& key, double value, const std::string& source,
                       Confidence confidence) {
    found(key, decimal(value), source, confidence);
}

std::string decimal(double value, int digits) {
    char text[64];
    std::snprintf(text, sizeof text, "%.*f", digits, value);
    std::string result = text;
    if (result.find('.') == std::string::npos) return result;
    while (result.back() == '0') result.pop_back();
    if (result.back() == '.') result.pop_back();
    return result;
}

}  // namespace l2lens::gpu
