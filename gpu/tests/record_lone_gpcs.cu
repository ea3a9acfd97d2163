// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_lone_gpcs: one wave of the GEMM, of which the SMs of one GPC, or all, work, over operands that
// stay in the L2: how long its steps take and how much of what they ask for merges, as rows of
// traces/h200/lone_stages.csv (its README says what the columns are).
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/error.hpp"

#include "gpu/counters/statistics.hpp"
#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/gemm.hpp"
#include "gpu/kernels/gemm_kernel.cuh"
#include "gpu/kernels/tensor_map.hpp"
#include "gpu/probe/bench.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/recorder.hpp"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

constexpr int kTileRows = 11, kTileColumns = 12;  // of tiles: a wave of an H200's SMs
constexpr int kRound = 64;                        // steps after which both operands begin anew
constexpr int kReadings = 3;
const std::vector<int> kSteps{128, 256, 512, 1024};

struct GoRound {
    static __device__ int at(int step) { return step % kRound; }
};

template <int BM, int BN, int WarpGroups>
__global__ void __launch_bounds__(WarpGroups * 128 + 32, 1)
    some_sms(const __grid_constant__ GemmArgs args, const std::uint8_t* works) {
    if (works[sm_id()] != 0) run_gemm_cta<GemmCta<BM, BN, WarpGroups, true, true, GoRound>>(args);
}

using KernelPointer = void (*)(GemmArgs, const std::uint8_t*);

struct Tile {
    int bm, bn, stages, threads;
    std::int64_t shared_bytes;
    KernelPointer kernel;

    std::int64_t m() const { return std::int64_t{kTileRows} * bm; }
    std::int64_t n() const { return std::int64_t{kTileColumns} * bn; }
};

template <int BM, int BN, int WarpGroups>
Tile tile_of(int stages) {
    return {BM,
            BN,
            stages,
            WarpGroups * 128 + 32,
            GemmLayout<BM, BN, WarpGroups>::bytes(stages),
            some_sms<BM, BN, WarpGroups>};
}

std::vector<std::uint32_t> order_of(bool row_major) {
    std::vector<std::uint32_t> order;
    for (std::uint32_t i = 0; i < kTileRows * kTileColumns; ++i)
        order.push_back(row_major ? pack_tile(i / kTileColumns, i % kTileColumns)
                                  : pack_tile(i % kTileRows, i / kTileRows));
    return order;
}

// One byte an SM: does it work?
std::vector<std::uint8_t> only(const std::vector<int>& sms, int all) {
    std::vector<std::uint8_t> works(static_cast<std::size_t>(all), 0);
    for (const int sm : sms) works[static_cast<std::size_t>(sm)] = 1;
    return works;
}

struct Ends {
    double mean_us, within_us;  // since the first CTA began; their standard deviation
};

Ends ends_of(const std::vector<TileRecord>& records, const std::vector<std::uint8_t>& works) {
    std::int64_t first = INT64_MAX;
    std::vector<double> ends;
    for (const TileRecord& record : records) {
        if (record.launch_id < 0 || works[static_cast<std::size_t>(record.sm)] == 0) continue;
        first = std::min(first, record.start_ns);
        ends.push_back(static_cast<double>(record.end_ns));
    }
    double sum = 0, squares = 0;
    for (const double end : ends) {
        const double us = (end - static_cast<double>(first)) / 1000;
        sum += us;
        squares += us * us;
    }
    const double mean = sum / static_cast<double>(ends.size());
    return {mean, std::sqrt(std::max(squares / static_cast<double>(ends.size()) - mean * mean, 0.0))};
}

// A, B and C lie one behind the other from `memory` on; A and B have the columns of a round.
GemmArgs args_of(const Tile& tile, int steps, char* memory, const DeviceBuffer<std::uint32_t>& order) {
    const std::int64_t columns = std::int64_t{kRound} * kGemmBk;
    char* b = memory + tile.m() * columns * 2;
    char* c = b + tile.n() * columns * 2;
    GemmArgs args{};
    args.a = tile_map(memory, tile.m(), columns, tile.bm);
    args.b = tile_map(b, tile.n(), columns, tile.bn);
    args.c = tile_map(c, tile.m(), tile.n(), kBlock);
    args.work = {order.get(), static_cast<std::int32_t>(order.size()), LaunchMode::Static, nullptr, nullptr};
    args.k_steps = steps;
    args.stages = tile.stages;
    args.share = Share::Nothing;
    return args;
}

void record(ProbeBench& bench, const Tile& tile, bool row_major, const std::vector<int>& sms, int steps) {
    const DeviceBuffer<std::uint32_t> order{std::span<const std::uint32_t>(order_of(row_major))};
    const std::vector<std::uint8_t> wanted = only(sms, bench.sms());
    const DeviceBuffer<std::uint8_t> works{std::span<const std::uint8_t>(wanted)};
    DeviceBuffer<TileRecord> records(order.size());
    GemmArgs args = args_of(tile, steps, bench.buffer(), order);
    const auto launch = [&] {
        tile.kernel<<<static_cast<unsigned>(order.size()), static_cast<unsigned>(tile.threads),
                      static_cast<std::size_t>(tile.shared_bytes)>>>(args, works.get());
        check_launch("a wave of the GEMM");
    };

    std::vector<double> mean_us, within_us, merged;
    for (int reading = 0; reading < kReadings; ++reading) {
        records.fill_bytes(0xFF);
        args.work.records = records.get();
        launch();
        const Ends ends = ends_of(records.to_host(), wanted);
        mean_us.push_back(ends.mean_us);
        within_us.push_back(ends.within_us);
        args.work.records = nullptr;
        merged.push_back(bench.count(launch, [] {})
                             .at("lrc__request_sectors_op_read_coalescing_achieved_type_hardware.sum"));
    }
    constexpr int kSectorsOfRow = 4;  // 128 B
    const double asked = static_cast<double>(sms.size()) * steps * (tile.bm + tile.bn) * kSectorsOfRow;
    std::printf("%d,%d,%d,%s,%zu,%d,%.2f,%.2f,%.0f,%.0f\n", tile.bm, tile.bn, tile.stages,
                row_major ? "row_major" : "column_major", sms.size(), steps, median(mean_us),
                median(within_us), asked, median(merged));
    std::fflush(stdout);
}

// The SMs of a GPC of each size, and those of all.
std::vector<std::vector<int>> gpcs_and_all(const std::vector<std::vector<int>>& gpcs) {
    std::map<std::size_t, std::vector<int>> of_size;
    std::vector<int> all;
    for (const std::vector<int>& gpc : gpcs) {
        of_size.emplace(gpc.size(), gpc);
        all.insert(all.end(), gpc.begin(), gpc.end());
    }
    of_size[all.size()] = all;
    std::vector<std::vector<int>> who_works;
    for (const auto& [size, sms] : of_size) who_works.push_back(sms);
    return who_works;
}

void record_all(ProbeBench& bench) {
    if (bench.sms() != kTileRows * kTileColumns)
        throw Unavailable("the wave is one of " + std::to_string(kTileRows * kTileColumns) +
                          " SMs, and this GPU has " + std::to_string(bench.sms()));
    const std::vector<std::vector<int>> who_works = gpcs_and_all(bench.gpcs);
    const std::vector<Tile> tiles{tile_of<128, 128, 1>(3), tile_of<128, 128, 1>(4), tile_of<128, 128, 1>(5),
                                  tile_of<128, 128, 1>(6), tile_of<64, 128, 1>(4),  tile_of<64, 128, 1>(8),
                                  tile_of<128, 256, 2>(4)};
    std::printf("bm,bn,stages,order,sms,steps,mean_us,within_us,asked_sectors,merged_sectors\n");
    for (const Tile& tile : tiles) {
        check_cuda(cudaFuncSetAttribute(reinterpret_cast<const void*>(tile.kernel),
                                        cudaFuncAttributeMaxDynamicSharedMemorySize,
                                        static_cast<int>(tile.shared_bytes)),
                   "asking for the kernel's shared memory");
        for (const bool row_major : {true, false})
            for (const std::vector<int>& sms : who_works)
                for (const int steps : kSteps) record(bench, tile, row_major, sms, steps);
    }
}

}  // namespace

int main(int count, char**) {
    return run_recorder("l2lens_gpu_lone_gpcs", count, [](ProbeBench& bench) {
        if (!bench.has_clusters()) throw Unavailable("the GEMM needs compute capability 9.0");
        probe_topology(bench);
        record_all(bench);
    });
}
