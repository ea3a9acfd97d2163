// SPDX-License-Identifier: Apache-2.0
// How fast are the kernels that only move bytes, beside a device-to-device copy on the same GPU? And how many
// TFLOP/s does attention reach? Exit 0, 1 when a moving kernel gives less than 80 % of the copy's bandwidth
// for the bytes it must move, 77 without a GPU.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "order/order.hpp"

#include "gpu/counters/statistics.hpp"
#include "gpu/device.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/live/live.hpp"
#include "gpu/live/live_csv.hpp"

namespace l2lens::gpu {
namespace {

constexpr double kLeastShare = 0.8;

// Bytes read and written a second by cudaMemcpy of `bytes`, the median of 20.
double copy_bandwidth(std::size_t bytes) {
    const DeviceBuffer<char> from(bytes);
    const DeviceBuffer<char> to(bytes);
    cudaEvent_t marks[21];
    for (cudaEvent_t& mark : marks) check_cuda(cudaEventCreate(&mark), "creating an event");
    for (int i = 0; i <= 20; ++i) {
        check_cuda(cudaEventRecord(marks[i]), "recording an event");
        if (i < 20)
            check_cuda(cudaMemcpyAsync(to.get(), from.get(), bytes, cudaMemcpyDeviceToDevice), "copying");
    }
    check_cuda(cudaDeviceSynchronize(), "copying");
    std::vector<double> seconds;
    for (int i = 0; i < 20; ++i) {
        float ms = 0;
        check_cuda(cudaEventElapsedTime(&ms, marks[i], marks[i + 1]), "reading events");
        seconds.push_back(static_cast<double>(ms) / 1000);
    }
    for (cudaEvent_t& mark : marks) cudaEventDestroy(mark);
    return 2 * static_cast<double>(bytes) / median(seconds);
}

double seconds_of(const LiveKernel& kernel, LaunchMode mode = LaunchMode::Grid,
                  const std::string& order = "row_major") {
    LiveOptions options;
    options.mode = mode;
    return run_live(kernel, make_order(order, describe_live(kernel).grid), options).time_us * 1e-6;
}

std::string describe(const LiveKernel& kernel) {
    std::string text = kernel.name;
    for (const auto& [name, value] : kernel.params) text += " " + name + "=" + value;
    return text;
}

struct Mover {
    LiveKernel kernel;
    double bytes;  // read once, written once
};

// softmax or layernorm of rows in bf16.
Mover rows_mover(const char* kernel, int rows, int cols, int warps = 8) {
    return {
        {kernel,
         {{"rows", std::to_string(rows)}, {"cols", std::to_string(cols)}, {"warps", std::to_string(warps)}}},
        4.0 * rows * cols};
}

std::vector<Mover> movers() {
    constexpr double kGib = 1024.0 * 1024 * 1024;
    constexpr double kGateRows = 2097152;
    return {
        {{"copy", {{"m", "16384"}, {"n", "16384"}, {"path", "ld"}}}, kGib},
        rows_mover("softmax", 61440, 1024, 1),
        rows_mover("softmax", 61440, 1024, 2),
        rows_mover("softmax", 61440, 2048, 4),
        rows_mover("softmax", 61440, 4096),
        rows_mover("softmax", 32768, 8192),
        rows_mover("softmax", 16384, 16384),
        rows_mover("softmax", 8192, 32768),
        rows_mover("layernorm", 61440, 2048, 4),
        rows_mover("layernorm", 61440, 4096),
        rows_mover("layernorm", 32768, 8192),
        rows_mover("layernorm", 16384, 16384),
        {{"transpose", {{"m", "16384"}, {"n", "16384"}}}, kGib},
        {{"transpose", {{"m", "16384"}, {"n", "16384"}, {"tile", "128"}}}, kGib},
        {{"stencil2d", {{"m", "16384"}, {"n", "8192"}}}, kGib},
        {{"stencil2d", {{"m", "16384"}, {"n", "8192"}, {"radius", "2"}}}, kGib},
        {{"stencil2d", {{"m", "16384"}, {"n", "8192"}, {"radius", "4"}}}, kGib},
        {{"stencil2d", {{"m", "16384"}, {"n", "8192"}, {"shape", "box"}}}, kGib},
        {{"stencil2d", {{"m", "16384"}, {"n", "8192"}, {"radius", "2"}, {"shape", "box"}}}, kGib},
        {{"norm_gate", {{"rows", "2097152"}}}, kGateRows * (3 * 64 * 2 + 4)},
        {{"norm_gate", {{"rows", "2097152"}, {"fused", "false"}}}, kGateRows * (5 * 64 * 2 + 4)},
    };
}

bool moves_fast_enough(const Mover& mover, double copy) {
    const double bandwidth = mover.bytes / seconds_of(mover.kernel);
    std::printf("%-58s %7.2f TB/s  %5.1f %% of the copy\n", describe(mover.kernel).c_str(), bandwidth * 1e-12,
                100 * bandwidth / copy);
    std::fflush(stdout);
    return bandwidth >= kLeastShare * copy;
}

// Two products of seq x seq x dim each, half of them with a causal mask.
void print_attention(const char* heads, const char* kv_heads, const char* seq, const char* dim,
                     const char* causal, LaunchMode mode) {
    const LiveKernel kernel{"attention",
                            {{"batch", "2"},
                             {"heads", heads},
                             {"kv_heads", kv_heads},
                             {"seq", seq},
                             {"dim", dim},
                             {"causal", causal}}};
    const double length = std::stod(seq);
    const bool half = std::string(causal) == "true";
    const double flops = 4 * 2 * std::stod(heads) * length * length * std::stod(dim) * (half ? 0.5 : 1);
    std::printf("%-70s %-8s %7.1f TFLOP/s\n", describe(kernel).c_str(), mode_name(mode).c_str(),
                flops / seconds_of(kernel, mode) * 1e-12);
    std::fflush(stdout);
}

int measure_all() {
    const double copy = copy_bandwidth(std::size_t{512} << 20);
    std::printf("cudaMemcpy, 512 MiB to another place: %.2f TB/s read and written\n", copy * 1e-12);
    bool fast = true;
    for (const Mover& mover : movers()) fast = moves_fast_enough(mover, copy) && fast;
    if (inspect_device().gpus.front().compute_major == 9)
        for (const LaunchMode mode : {LaunchMode::Grid, LaunchMode::Static, LaunchMode::Dynamic})
            for (const char* causal : {"false", "true"}) {
                print_attention("16", "16", "8192", "128", causal, mode);
                print_attention("32", "8", "4096", "128", causal, mode);
                print_attention("16", "16", "8192", "64", causal, mode);
            }
    return fast ? 0 : 1;
}

}  // namespace
}  // namespace l2lens::gpu

int main() {
    using namespace l2lens::gpu;
    try {
        require_gpu();
        return measure_all();
    } catch (const l2lens::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
