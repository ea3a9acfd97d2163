// SPDX-License-Identifier: Apache-2.0
// How fast is the GEMM kernel beside cuBLAS on the same operands? Prints a table of TFLOP/s; a measurement,
// not a test. cuBLAS is opened at run time.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "base/error.hpp"
#include "order/order.hpp"

#include "gpu/counters/statistics.hpp"
#include "gpu/device.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/fill.hpp"
#include "gpu/kernels/gemm.hpp"
#include "gpu/live/live.hpp"
#include "gpu/live/order_table.hpp"
#include "gpu/tests/cublas.hpp"

namespace l2lens::gpu {
namespace {

double median_us(const std::function<void()>& launch, int count) {
    std::vector<cudaEvent_t> marks(static_cast<std::size_t>(count) + 1);
    for (cudaEvent_t& mark : marks) check_cuda(cudaEventCreate(&mark), "creating an event");
    for (int i = 0; i < 3; ++i) launch();
    cudaEventRecord(marks[0]);
    for (std::size_t i = 1; i < marks.size(); ++i) {
        launch();
        cudaEventRecord(marks[i]);
    }
    check_cuda(cudaDeviceSynchronize(), "timing");
    std::vector<double> times;
    for (std::size_t i = 1; i < marks.size(); ++i) {
        float ms = 0;
        cudaEventElapsedTime(&ms, marks[i - 1], marks[i]);
        times.push_back(static_cast<double>(ms) * 1000);
    }
    for (cudaEvent_t mark : marks) cudaEventDestroy(mark);
    return median(times);
}

struct Variant {
    int bm, bn, warps, stages, cluster_rows, cluster_columns;
};

void compare(std::int64_t m, std::int64_t n, std::int64_t k, const Cublas& cublas) {
    DeviceBuffer<std::uint16_t> a(static_cast<std::size_t>(m * k));
    DeviceBuffer<std::uint16_t> b(static_cast<std::size_t>(n * k));
    DeviceBuffer<std::uint16_t> c(static_cast<std::size_t>(m * n));
    DeviceBuffer<std::uint32_t> counter(1);
    fill_normal_bf16(a.get(), a.size(), 1);
    fill_normal_bf16(b.get(), b.size(), 2);
    const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
    auto tflops = [&](double us) { return flops / us / 1e6; };
    // The GPU runs at its power limit: the warmer it is, the slower. So cuBLAS is timed anew beside each
    // variant.
    auto library_us = [&] { return median_us([&] { cublas.gemm(m, n, k, a.get(), b.get(), c.get()); }, 10); };
    library_us();
    std::printf("%ldx%ldx%ld\n", m, n, k);
    const Variant variants[] = {{128, 256, 8, 3, 1, 1}, {128, 256, 8, 4, 1, 1}, {128, 256, 8, 4, 2, 1},
                                {256, 128, 8, 4, 1, 1}, {128, 128, 8, 6, 1, 1}, {128, 128, 4, 4, 1, 1}};
    for (const Variant& v : variants)
        for (const LaunchMode mode : {LaunchMode::Grid, LaunchMode::Static, LaunchMode::Dynamic})
            for (const std::string name : {"group_m:8", "group_m:16"}) {
                GemmShape s;
                s.m = m, s.n = n, s.k = k, s.bm = v.bm, s.bn = v.bn, s.warps = v.warps, s.stages = v.stages;
                s.cluster_rows = v.cluster_rows, s.cluster_columns = v.cluster_columns;
                const GridShape grid{static_cast<std::int32_t>(s.tile_rows()),
                                     static_cast<std::int32_t>(s.tile_columns())};
                std::vector<std::uint32_t> table;
                try {
                    table = pack_order(make_order(name, grid), {{}, grid, v.cluster_rows, v.cluster_columns});
                } catch (const BadInput&) {
                    continue;  // a group_m order walks down columns: no pairs of one row
                }
                const DeviceBuffer<std::uint32_t> order{std::span(table)};
                LaunchPlan plan;
                plan.order = order.get();
                plan.launches = static_cast<std::int64_t>(table.size());
                plan.mode = mode;
                plan.persistent_ctas = 132 * gemm_ctas_per_sm(s);
                plan.counter = counter.get();
                const double library = library_us();
                const double us = median_us([&] { launch_gemm(s, {a.get(), b.get(), c.get()}, plan); }, 10);
                std::printf(
                    "  %3dx%3dx64 warps %d stages %d cluster %dx%d ctas/sm %d mode %d %-10s %7.0f us %4.0f "
                    "TFLOP/s  cuBLAS %4.0f: %5.1f %%\n",
                    v.bm, v.bn, v.warps, v.stages, v.cluster_rows, v.cluster_columns, gemm_ctas_per_sm(s),
                    static_cast<int>(mode), name.c_str(), us, tflops(us), tflops(library),
                    library / us * 100);
            }
    std::fflush(stdout);
}

}  // namespace
}  // namespace l2lens::gpu

int main() {
    using namespace l2lens::gpu;
    try {
        require_gpu();
        const Cublas cublas;
        compare(8192, 8192, 8192, cublas);
        compare(16384, 4096, 4096, cublas);
        return 0;
    } catch (const l2lens::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
