// SPDX-License-Identifier: Apache-2.0
// Does the GEMM kernel compute every element of C exactly, whatever tile, layout, mode, cluster and edge?
// Exit 0 when it does, 1 when not, 77 without a GPU that can run it.
#include <cstdio>
#include <string>
#include <vector>

#include <cuda_runtime_api.h>

#include "base/error.hpp"
#include "order/order.hpp"

#include "gpu/device.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/fill.hpp"
#include "gpu/kernels/gemm.hpp"
#include "gpu/live/order_table.hpp"
#include "gpu/tests/reference.hpp"

namespace l2lens::gpu {
namespace {

struct Case {
    GemmShape shape;
    LaunchMode mode;
};

std::string name_of(const Case& c) {
    const GemmShape& s = c.shape;
    char text[200];
    std::snprintf(text, sizeof text,
                  "%ldx%ldx%ld %c%c tile %dx%dx%d warps %d stages %d cluster %dx%d mode %d", s.m, s.n, s.k,
                  s.a_k_major ? 't' : 'n', s.b_k_major ? 'n' : 't', s.bm, s.bn, s.bk, s.warps, s.stages,
                  s.cluster_rows, s.cluster_columns, static_cast<int>(c.mode));
    return text;
}

// Tile pairs of a cluster, walked so that each pair shares what the cluster shares.
TileSequence cluster_order(const GemmShape& shape) {
    TileSequence order;
    const auto rows = static_cast<std::int32_t>(shape.tile_rows());
    const auto columns = static_cast<std::int32_t>(shape.tile_columns());
    auto tile = [&](std::int32_t row, std::int32_t column) {
        return row < rows && column < columns ? TileCoord{row, column} : kNoTile;
    };
    for (std::int32_t row = 0; row < rows; row += shape.cluster_rows)
        for (std::int32_t column = 0; column < columns; column += shape.cluster_columns)
            for (std::int32_t i = 0; i < shape.cluster_rows; ++i)
                for (std::int32_t j = 0; j < shape.cluster_columns; ++j)
                    order.push_back(tile(row + i, column + j));
    return order;
}

std::int64_t wrong_elements(const Case& c, std::int64_t samples) {
    const GemmShape& s = c.shape;
    const LiveShape live{
        {},
        {static_cast<std::int32_t>(s.tile_rows()), static_cast<std::int32_t>(s.tile_columns())},
        s.cluster_rows,
        s.cluster_columns};
    const auto table = pack_order(cluster_order(s), live);
    const DeviceBuffer<std::uint32_t> order{std::span(table)};
    DeviceBuffer<std::uint32_t> counter(1);
    DeviceBuffer<std::uint16_t> a(static_cast<std::size_t>(s.m * s.k));
    DeviceBuffer<std::uint16_t> b(static_cast<std::size_t>(s.n * s.k));
    DeviceBuffer<std::uint16_t> out(static_cast<std::size_t>(s.m * s.n));
    const auto seed = static_cast<std::uint64_t>(s.m * 7 + s.n * 3 + s.k);
    fill_random_bf16(a.get(), a.size(), seed);
    fill_random_bf16(b.get(), b.size(), seed + 1);
    out.fill_bytes(0xFF);  // NaN
    LaunchPlan plan;
    plan.order = order.get();
    plan.launches = static_cast<std::int64_t>(table.size());
    plan.mode = c.mode;
    plan.persistent_ctas = 132;
    plan.counter = counter.get();
    launch_gemm(s, {a.get(), b.get(), out.get()}, plan);
    check_cuda(cudaDeviceSynchronize(), "running " + name_of(c));
    return count_wrong_elements({s.m, s.n, s.k, s.a_k_major, s.b_k_major, a.get(), b.get(), out.get()},
                                samples);
}

std::vector<Case> cases() {
    std::vector<Case> all;
    struct Tile {
        int bm, bn, warps, stages;
    };
    const Tile tiles[] = {{128, 128, 8, 4}, {128, 128, 4, 4}, {128, 256, 8, 3},
                          {256, 128, 8, 3}, {64, 128, 4, 4},  {64, 64, 4, 5}};
    struct Size {
        std::int64_t m, n, k;
    };
    // Multiples of everything; multiples of nothing; one tile; a k shorter than the ring; more tiles than
    // SMs.
    const Size sizes[] = {
        {512, 512, 512}, {1000, 1032, 328}, {56, 40, 24}, {264, 520, 64}, {2056, 2312, 200}};
    const GemmShape usual;
    for (const Tile& tile : tiles)
        for (const Size& size : sizes)
            for (const int layout : {0, 1, 2, 3})
                for (const LaunchMode mode : {LaunchMode::Grid, LaunchMode::Static, LaunchMode::Dynamic})
                    for (const int cluster : {0, 1, 2}) {
                        GemmShape s = usual;
                        s.m = size.m, s.n = size.n, s.k = size.k;
                        s.bm = tile.bm, s.bn = tile.bn, s.warps = tile.warps, s.stages = tile.stages;
                        s.a_k_major = layout % 2 == 0;
                        s.b_k_major = layout / 2 == 0;
                        s.cluster_rows = cluster == 1 ? 2 : 1;
                        s.cluster_columns = cluster == 2 ? 2 : 1;
                        all.push_back({s, mode});
                    }
    return all;
}

int run() {
    require_gpu();
    const auto report = inspect_device();
    if (report.gpus.front().compute_major != 9)
        throw Unavailable("gemm needs compute capability 9.0, this is " + report.gpus.front().name);
    int failed = 0;
    const auto all = cases();
    for (const Case& c : all) {
        const std::int64_t wrong = wrong_elements(c, 1'000'000);
        if (wrong == 0) continue;
        ++failed;
        std::printf("FAILED %s: %ld wrong elements\n", name_of(c).c_str(), wrong);
    }
    Case large{GemmShape{}, LaunchMode::Grid};
    if (const std::int64_t wrong = wrong_elements(large, 1'000'000); wrong != 0) {
        ++failed;
        std::printf("FAILED %s: %ld of a million sampled elements wrong\n", name_of(large).c_str(), wrong);
    }
    std::printf("%zu GEMMs, %d wrong\n", all.size() + 1, failed);
    return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace l2lens::gpu

int main() {
    try {
        return l2lens::gpu::run();
    } catch (const l2lens::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
