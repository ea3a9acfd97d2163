// SPDX-License-Identifier: Apache-2.0
// The library built without a CUDA toolkit: what needs one says so.
#include "base/error.hpp"

#include "gpu/counters/counter_session.hpp"
#include "gpu/counters/metric_names.hpp"
#include "gpu/live/live.hpp"
#include "gpu/probe/probe.hpp"

namespace l2lens::gpu {
namespace {

[[noreturn]] void refuse(const char* what) {
    throw Unavailable(std::string(what) +
                      ": built without CUDA; install a CUDA toolkit (nvcc, CUPTI) and build again");
}

}  // namespace

struct CounterSession::State {};

CounterSession::CounterSession(std::vector<std::string>, Counted) {
    refuse("counters cannot be read");
}
CounterSession::~CounterSession() = default;
const std::vector<std::string>& CounterSession::metrics() const {
    refuse("no metrics");
}
const std::string& CounterSession::chip() const {
    refuse("no chip");
}
int CounterSession::passes() const {
    refuse("no passes");
}
std::vector<double> CounterSession::measure(const std::function<void()>&, const std::function<void()>&) {
    refuse("counters cannot be read");
}
std::vector<CounterValue> CounterSession::measure_repeatedly(const std::function<void()>&,
                                                             const std::function<void()>&, int) {
    refuse("counters cannot be read");
}

std::string current_chip() {
    refuse("no chip");
}
std::vector<std::string> supported_chips() {
    refuse("CUPTI's chips cannot be listed");
}
std::vector<std::string> metrics_of_chip(const std::string&) {
    refuse("CUPTI's metrics cannot be listed");
}
std::string metric_description(const std::string&, const std::string&) {
    refuse("CUPTI's metrics cannot be listed");
}
void check_metric_names(const std::string&, std::span<const std::string>) {
    refuse("metric names cannot be checked");
}

std::vector<std::string> live_kernels() {
    return {};
}
LiveShape describe_live(const LiveKernel&) {
    refuse("no kernel can run");
}
LiveResult run_live(const LiveKernel&, std::span<const TileCoord>, const LiveOptions&) {
    refuse("no kernel can run");
}
std::vector<std::string> recorded_metrics(const std::string&) {
    refuse("CUPTI's metrics cannot be listed");
}

ProbeReport probe_gpu(const std::function<void(const std::string&)>&) {
    refuse("the GPU cannot be probed");
}

}  // namespace l2lens::gpu
