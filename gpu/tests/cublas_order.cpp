// SPDX-License-Identifier: Apache-2.0
// In which order does cuBLAS walk the tiles of a GEMM? It does not say; here it runs on a few SMs only, so
// that its work items (a tile, or the tiles of a cluster) are done one after the other, and C is watched
// meanwhile. Prints the items as they appear and the order of the catalogue that explains most of the steps
// from one to the next.
//
//   gpu_cublas_order [m=8192] [n=8192] [k=8192] [sms=0,1] [step=32] [csv=FILE]
//
// sms: where it may run; as many SMs of one GPC as a cluster has CTAs (0 and 1 share a TPC). step: a divisor
// of the tile's sides, the smallest thing that can be told apart.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include <cuda_runtime_api.h>

#include "base/error.hpp"
#include "order/order.hpp"

#include "gpu/device.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/fill.hpp"
#include "gpu/live/live_params.hpp"
#include "gpu/tests/cublas.hpp"
#include "gpu/tests/tile_watch.hpp"

namespace l2lens::gpu {
namespace {

struct Question {
    std::int64_t m, n, k;
    int step;
    std::vector<int> free_sms;
    std::string csv;
};

Question parse(int count, char** words) {
    ParamList given;
    Question question;
    std::string sms = "0,1";
    for (int i = 1; i < count; ++i) {
        const std::string word = words[i];
        const auto equals = word.find('=');
        if (equals == std::string::npos) throw BadInput("'" + word + "' is not name=value");
        const std::string name = word.substr(0, equals);
        if (name == "sms")
            sms = word.substr(equals + 1);
        else if (name == "csv")
            question.csv = word.substr(equals + 1);
        else
            given.emplace_back(name, word.substr(equals + 1));
    }
    LiveParams params("gpu_cublas_order", given);
    question.m = params.integer("m", 8192);
    question.n = params.integer("n", 8192);
    question.k = params.integer("k", 8192);
    question.step = params.small_integer("step", 32);
    params.finish();
    std::istringstream list(sms);
    for (std::string sm; std::getline(list, sm, ',');) question.free_sms.push_back(std::stoi(sm));
    return question;
}

// When each sample of C was written.
std::vector<std::int64_t> watch_gemm(const Question& q) {
    constexpr std::uint16_t kPoison = 0xFFFF;  // NaN: no result
    constexpr int kWatchers = 8;
    const Cublas cublas;
    DeviceBuffer<std::uint16_t> a(static_cast<std::size_t>(q.m * q.k));
    DeviceBuffer<std::uint16_t> b(static_cast<std::size_t>(q.n * q.k));
    DeviceBuffer<std::uint16_t> c(static_cast<std::size_t>(q.m * q.n));
    fill_random_bf16(a.get(), a.size(), 1);
    fill_random_bf16(b.get(), b.size(), 2);
    cudaStream_t stream = nullptr;
    check_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
    cublas.set_stream(stream);
    const auto gemm = [&] { cublas.gemm(q.m, q.n, q.k, a.get(), b.get(), c.get()); };
    gemm();  // loads its kernel, which could not be done while the SMs are held
    check_cuda(cudaDeviceSynchronize(), "running cuBLAS");
    c.fill_bytes(kPoison & 0xFF);
    TileWatch watch({c.get(), q.m, q.n, q.step, kPoison}, q.free_sms, kWatchers);
    gemm();
    check_cuda(cudaStreamSynchronize(stream), "running cuBLAS on few SMs");
    auto seen = watch.stop();
    check_cuda(cudaStreamDestroy(stream), "destroying a stream");
    return seen;
}

// A rectangle of samples that appeared together.
struct Item {
    std::int64_t ns = 0;
    std::int64_t row = 0, rows = 0, column = 0, columns = 0;
    std::int64_t samples = 0;
};

Item enclose(const std::vector<std::pair<std::int64_t, std::int64_t>>& together,
             std::int64_t sample_columns) {
    Item item;
    item.ns = together.front().first;
    item.samples = static_cast<std::int64_t>(together.size());
    item.row = item.column = std::int64_t{1} << 40;
    std::int64_t last_row = 0;
    std::int64_t last_column = 0;
    for (const auto& [ns, sample] : together) {
        item.row = std::min(item.row, sample / sample_columns);
        item.column = std::min(item.column, sample % sample_columns);
        last_row = std::max(last_row, sample / sample_columns);
        last_column = std::max(last_column, sample % sample_columns);
    }
    item.rows = last_row - item.row + 1;
    item.columns = last_column - item.column + 1;
    return item;
}

// Samples without a pause between them are one item: a tile is stored within microseconds, the next one takes
// tens.
std::vector<Item> find_items(const std::vector<std::int64_t>& seen_ns, std::int64_t sample_columns) {
    constexpr std::int64_t kPauseNs = 20000;
    std::vector<std::pair<std::int64_t, std::int64_t>> samples;  // (ns, number)
    for (std::size_t i = 0; i < seen_ns.size(); ++i) {
        if (seen_ns[i] == 0) throw Error(ExitCode::Internal, "an element of C kept its poison");
        samples.emplace_back(seen_ns[i], static_cast<std::int64_t>(i));
    }
    std::sort(samples.begin(), samples.end());
    std::vector<Item> items;
    std::vector<std::pair<std::int64_t, std::int64_t>> together;
    for (std::size_t i = 0; i < samples.size(); ++i) {
        together.push_back(samples[i]);
        if (i + 1 < samples.size() && samples[i + 1].first - samples[i].first < kPauseNs) continue;
        items.push_back(enclose(together, sample_columns));
        if (items.back().samples != items.back().rows * items.back().columns)
            throw Error(ExitCode::Internal,
                        "work items end at the same time: give the kernel fewer SMs, or a larger k");
        together.clear();
    }
    return items;
}

std::vector<std::string> candidates(GridShape grid) {
    std::vector<std::string> names{"row_major", "column_major", "hilbert", "gilbert", "morton", "diagonal"};
    const auto grouped = [&](const std::string& name, std::int32_t extent) {
        for (std::int32_t size = 2; size <= extent; ++size)
            names.push_back(name + ":" + std::to_string(size));
    };
    for (const char* name : {"group_m", "serpentine_m"}) grouped(name, grid.rows);
    for (const char* name : {"group_n", "serpentine_n"}) grouped(name, grid.columns);
    return names;
}

// How far apart in the order consecutive items are: the distance and how often it occurs.
std::map<std::int64_t, int> strides(const TileSequence& order, const std::vector<TileCoord>& walked,
                                    GridShape grid) {
    std::vector<std::int64_t> id_of(static_cast<std::size_t>(grid.tiles()));
    const auto at = [&](TileCoord tile) -> std::int64_t& {
        return id_of[static_cast<std::size_t>(tile.row) * static_cast<std::size_t>(grid.columns) +
                     static_cast<std::size_t>(tile.column)];
    };
    for (std::size_t id = 0; id < order.size(); ++id) at(order[id]) = static_cast<std::int64_t>(id);
    std::map<std::int64_t, int> count;
    for (std::size_t i = 1; i < walked.size(); ++i) ++count[at(walked[i]) - at(walked[i - 1])];
    return count;
}

void explain(const std::vector<Item>& items) {
    const Item& whole = items.front();  // the items at the lower and right edge may be smaller
    std::vector<TileCoord> walked;
    GridShape grid{0, 0};
    for (const Item& item : items) {
        walked.push_back({static_cast<std::int32_t>(item.row / whole.rows),
                          static_cast<std::int32_t>(item.column / whole.columns)});
        grid.rows = std::max(grid.rows, walked.back().row + 1);
        grid.columns = std::max(grid.columns, walked.back().column + 1);
    }
    if (grid.tiles() != static_cast<std::int64_t>(items.size()))
        throw Error(ExitCode::Internal, "the work items do not form a grid");
    std::string best;
    std::map<std::int64_t, int> best_strides;
    const auto ones = [](const std::map<std::int64_t, int>& all) { return all.count(1) ? all.at(1) : 0; };
    for (const std::string& name : candidates(grid)) {
        const auto found = strides(make_order(name, grid), walked, grid);
        if (!best.empty() && ones(found) <= ones(best_strides)) continue;
        best = name;
        best_strides = found;
    }
    std::printf("best explained by %s over the %d x %d work items; steps along it:", best.c_str(), grid.rows,
                grid.columns);
    std::vector<std::pair<int, std::int64_t>> sorted;
    for (const auto& [stride, count] : best_strides) sorted.emplace_back(-count, stride);
    std::sort(sorted.begin(), sorted.end());
    sorted.resize(std::min<std::size_t>(sorted.size(), 4));
    for (const auto& [count, stride] : sorted) std::printf(" %+ld: %d", static_cast<long>(stride), -count);
    std::printf(" of %zu\n", items.size() - 1);
}

void write_times(const std::string& file, const std::vector<Item>& items, int step) {
    std::ofstream out(file);
    out << "ns,row,rows,column,columns\n";
    for (const Item& item : items)
        out << item.ns - items.front().ns << ',' << item.row * step << ',' << item.rows * step << ','
            << item.column * step << ',' << item.columns * step << '\n';
}

int answer(const Question& q) {
    require_gpu();
    const auto items = find_items(watch_gemm(q), q.n / q.step);
    const double us = static_cast<double>(items.back().ns - items.front().ns) / 1000;
    std::printf("%ldx%ldx%ld on %zu SMs: %zu work items of %ld x %ld, one every %.1f us\n", q.m, q.n, q.k,
                q.free_sms.size(), items.size(), items.front().rows * q.step, items.front().columns * q.step,
                us / static_cast<double>(std::max<std::size_t>(items.size() - 1, 1)));
    for (std::size_t i = 0; i < std::min<std::size_t>(items.size(), 20); ++i)
        std::printf("  %9.1f us  rows from %5ld, columns from %5ld\n",
                    static_cast<double>(items[i].ns - items.front().ns) / 1000, items[i].row * q.step,
                    items[i].column * q.step);
    explain(items);
    if (!q.csv.empty()) write_times(q.csv, items, q.step);
    return 0;
}

}  // namespace
}  // namespace l2lens::gpu

int main(int argc, char** argv) {
    try {
        return l2lens::gpu::answer(l2lens::gpu::parse(argc, argv));
    } catch (const l2lens::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
