// SPDX-License-Identifier: Apache-2.0
// Do copy and transpose move every element where it belongs, and nothing else? Exit 0, 1, or 77 without a
// GPU.
#include <cstdio>
#include <cstring>

#include "base/error.hpp"
#include "order/order.hpp"

#include "gpu/device.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/copy.hpp"
#include "gpu/kernels/fill.hpp"
#include "gpu/live/order_table.hpp"

namespace l2lens::gpu {
namespace {

constexpr std::size_t kGuard = 4096;  // bytes behind B that must keep their poison

struct Data {
    Data(std::int64_t m, std::int64_t n, int element_bytes)
        : bytes(static_cast<std::size_t>(m * n * element_bytes)), a(bytes + 1), b(bytes + kGuard) {
        fill_random_bf16(a.get(), bytes / 2, static_cast<std::uint64_t>(m * 31 + n));
        b.fill_bytes(0xA5);
    }
    bool guard_is_whole(const std::vector<char>& out) const {
        for (std::size_t i = bytes; i < out.size(); ++i)
            if (out[i] != static_cast<char>(0xA5)) return false;
        return true;
    }
    std::size_t bytes;
    DeviceBuffer<char> a, b;
};

template <class Launch>
std::vector<char> run(GridShape grid, LaunchMode mode, Data& data, Launch launch) {
    const auto table = pack_order(make_order("group_m:3", grid), {{}, grid, 1, 1});
    const DeviceBuffer<std::uint32_t> order{std::span(table)};
    DeviceBuffer<std::uint32_t> counter(1);
    LaunchPlan plan;
    plan.order = order.get();
    plan.launches = static_cast<std::int64_t>(table.size());
    plan.mode = mode;
    plan.persistent_ctas = 100;
    plan.counter = counter.get();
    launch(plan);
    check_cuda(cudaDeviceSynchronize(), "running a copy");
    return data.b.to_host();
}

GridShape tiles(std::int64_t m, std::int64_t n, int bm, int bn) {
    return {static_cast<std::int32_t>((m + bm - 1) / bm), static_cast<std::int32_t>((n + bn - 1) / bn)};
}

bool copies(const CopyShape& s, LaunchMode mode) {
    Data data(s.m, s.n, s.element_bytes);
    const auto out = run(tiles(s.m, s.n, s.bm, s.bn), mode, data,
                         [&](const LaunchPlan& plan) { launch_copy(s, data.a.get(), data.b.get(), plan); });
    const auto in = data.a.to_host();
    return std::memcmp(in.data(), out.data(), data.bytes) == 0 && data.guard_is_whole(out);
}

bool transposes(const TransposeShape& s, LaunchMode mode) {
    Data data(s.m, s.n, s.element_bytes);
    const auto out = run(tiles(s.m, s.n, s.tile, s.tile), mode, data, [&](const LaunchPlan& plan) {
        launch_transpose(s, data.a.get(), data.b.get(), plan);
    });
    const auto in = data.a.to_host();
    const auto size = static_cast<std::size_t>(s.element_bytes);
    for (std::int64_t i = 0; i < s.m; ++i)
        for (std::int64_t j = 0; j < s.n; ++j)
            if (std::memcmp(&in[static_cast<std::size_t>(i * s.n + j) * size],
                            &out[static_cast<std::size_t>(j * s.m + i) * size], size) != 0)
                return false;
    return data.guard_is_whole(out);
}

int check_all() {
    require_gpu();
    const bool hopper = inspect_device().gpus.front().compute_major == 9;
    int done = 0;
    int failed = 0;
    auto note = [&](bool right, const char* kernel, std::int64_t m, std::int64_t n, int bytes,
                    LaunchMode mode) {
        ++done;
        if (right) return;
        ++failed;
        std::printf("FAILED %s %ldx%ld, %d B elements, mode %d\n", kernel, m, n, bytes,
                    static_cast<int>(mode));
    };
    const std::int64_t sizes[][2] = {{512, 1024}, {1000, 1008}, {130, 16}, {257, 2064}};
    for (const auto& [m, n] : sizes)
        for (const int bytes : {1, 2, 4})
            for (const LaunchMode mode : {LaunchMode::Grid, LaunchMode::Static, LaunchMode::Dynamic}) {
                if (hopper)
                    note(copies({m, n, 64, 128, bytes, CopyPath::Tma}, mode), "copy tma", m, n, bytes, mode);
                note(copies({m, n, 64, 128, bytes, CopyPath::Load}, mode), "copy ld", m, n, bytes, mode);
                note(copies({m, n - 3, 48, 40, bytes, CopyPath::Load}, mode), "copy ld, odd rows", m, n - 3,
                     bytes, mode);
                note(transposes({m, n, 64, bytes}, mode), "transpose", m, n, bytes, mode);
                note(transposes({m, n + 5, 48, bytes}, mode), "transpose, odd rows", m, n + 5, bytes, mode);
            }
    std::printf("%d copies, %d wrong\n", done, failed);
    return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace l2lens::gpu

int main() {
    try {
        return l2lens::gpu::check_all();
    } catch (const l2lens::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
