// SPDX-License-Identifier: Apache-2.0
// What the correctness programs share: a launch in an order and a mode, bf16 on the host, and the count of
// what went wrong.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "order/order.hpp"

#include "gpu/device.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/fill.hpp"
#include "gpu/kernels/launch.hpp"
#include "gpu/live/order_table.hpp"

namespace l2lens::gpu {

// A bf16 is the upper half of a float.
inline float from_bf16(std::uint16_t bits) {
    return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16);
}
inline std::uint16_t exact_bf16(float value) {
    return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16);
}

// What fill_random_bf16() fills device memory with, times a power of two.
inline std::vector<std::uint16_t> random_bf16s(std::int64_t count, std::uint64_t seed, float times = 1) {
    std::vector<std::uint16_t> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = exact_bf16(random_bf16(seed, i) * times);
    return values;
}

inline std::vector<float> random_floats(std::int64_t count, std::uint64_t seed, float times = 1) {
    std::vector<float> values(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = random_bf16(seed, i) * times;
    return values;
}

template <class T>
DeviceBuffer<T> on_device(const std::vector<T>& values) {
    return DeviceBuffer<T>(std::span<const T>(values));
}

template <class T>
DeviceBuffer<T> poisoned(std::int64_t count) {
    DeviceBuffer<T> data(static_cast<std::size_t>(count));
    data.fill_bytes(0xFF);  // a NaN of every type
    return data;
}

// launch(plan), in an order with no-ops and a mode, and waits for it.
template <class Launch>
void run_in_order(GridShape grid, const std::string& order, LaunchMode mode, Launch launch) {
    const auto table = pack_order(make_order(order, grid), {{}, grid, 1, 1});
    const DeviceBuffer<std::uint32_t> on_gpu{std::span<const std::uint32_t>(table)};
    DeviceBuffer<std::uint32_t> counter(1);
    LaunchPlan plan;
    plan.order = on_gpu.get();
    plan.launches = static_cast<std::int64_t>(table.size());
    plan.mode = mode;
    plan.persistent_ctas = 100;  // fewer than SMs, so that each takes several tiles
    plan.counter = counter.get();
    launch(plan);
    check_cuda(cudaDeviceSynchronize(), "running the kernel");
}

inline constexpr LaunchMode kAllModes[] = {LaunchMode::Grid, LaunchMode::Static, LaunchMode::Dynamic};

inline GridShape grid_of(std::int64_t rows, std::int64_t columns) {
    return {static_cast<std::int32_t>(rows), static_cast<std::int32_t>(columns)};
}

// Counts checks and names those that fail.
class CheckCount {
public:
    void note(bool right, const std::string& what) {
        ++done_;
        if (right) return;
        ++failed_;
        std::printf("FAILED %s\n", what.c_str());
        std::fflush(stdout);
    }
    // A program's exit status.
    int report(const char* what) const {
        std::printf("%d %s, %d wrong\n", done_, what, failed_);
        return failed_ == 0 ? 0 : 1;
    }

private:
    int done_ = 0;
    int failed_ = 0;
};

// main() of a correctness program.
template <class Body>
int run_checks(Body body) {
    try {
        require_gpu();
        return body();
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}

// |got - expected| <= tolerance, never for a NaN.
inline bool is_near(double got, double expected, double tolerance) {
    return std::abs(got - expected) <= tolerance;
}

// A bf16 within one unit in the last place (rounding after fp32 arithmetic may fall to either side).
inline bool is_near_bf16(std::uint16_t got, double expected, double absolute = 1e-6) {
    return is_near(from_bf16(got), expected, std::abs(expected) / 128 * 0.51 + absolute);
}

}  // namespace l2lens::gpu
