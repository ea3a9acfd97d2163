// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_refresh: when DRAM keeps a lone line waiting, as rows of traces/h200/refresh.csv (its README
// says what the columns are). Each SM reads one line over and over and has the L2 discard it in between, so
// that each load comes from DRAM; slow ones come at a fixed period, as refreshes do.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <vector>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"

using namespace l2lens;
using namespace l2lens::gpu;

namespace {

constexpr int kLines = 132;  // one for each SM of an H200
constexpr int kLoads = 4000;
constexpr std::size_t kBufferBytes = std::size_t{1} << 30;
constexpr double kSlowNs = 90;  // more than the median: beyond what lines from an idle DRAM differ by
constexpr std::uint32_t kNoValue = 0x9e3779b9;
constexpr double kPi = 3.14159265358979323846;

struct Load {
    std::int64_t began_ns;  // since the first load of all lines, in steps of 32: the clock's
    float cycles;           // of the SM, until its value was there
};

struct RawLoad {
    std::uint64_t at;
    std::uint32_t cycles;
};

__device__ std::uint64_t global_timer() {
    std::uint64_t now;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
    return now;
}

__global__ void load_lines(char* buffer, std::size_t stride, RawLoad* loads) {
    const char* const line = buffer + blockIdx.x * stride;
    RawLoad* const mine = loads + std::size_t{blockIdx.x} * kLoads;
    for (int i = 0; i < kLoads; ++i) {
        asm volatile("discard.global.L2 [%0], 128;" ::"l"(line) : "memory");
        __threadfence();
        const std::uint64_t at = global_timer();
        const long long begin = clock64();
        std::uint32_t value;
        asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(value) : "l"(line) : "memory");
        // Waits for the value, which can be anything: what is discarded is lost.
        if (value == kNoValue) __trap();
        const long long end = clock64();
        mine[i] = {at, static_cast<std::uint32_t>(end - begin)};
    }
}

using Line = std::vector<Load>;

std::vector<Line> read_lines(std::size_t stride) {
    DeviceBuffer<char> buffer(kBufferBytes);
    buffer.fill_bytes(0);
    const DeviceBuffer<RawLoad> loads(std::size_t{kLines} * kLoads);
    load_lines<<<kLines, 1>>>(buffer.get(), stride, loads.get());
    check_launch("loading lines that were discarded");
    const std::vector<RawLoad> raw = loads.to_host();
    std::uint64_t first = raw.front().at;
    for (const RawLoad& load : raw) first = std::min(first, load.at);
    std::vector<Line> lines(kLines);
    for (std::size_t i = 0; i < raw.size(); ++i)
        lines[i / kLoads].push_back(
            {static_cast<std::int64_t>(raw[i].at - first), static_cast<float>(raw[i].cycles)});
    return lines;
}

double percentile(const Line& line, double share) {
    std::vector<float> cycles;
    for (const Load& load : line) cycles.push_back(load.cycles);
    const auto at = cycles.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(cycles.size()));
    std::nth_element(cycles.begin(), at, cycles.end());
    return *at;
}

// Of the loads that took longer than most: when they began.
std::vector<std::int64_t> slow_ones(const Line& line, double ghz) {
    const double slow = percentile(line, 0.5) + kSlowNs * ghz;
    std::vector<std::int64_t> times;
    for (const Load& load : line)
        if (load.cycles > slow) times.push_back(load.began_ns);
    return times;
}

// Where in a period they began, as a direction, and how much alike: 0 to 1, its length.
std::complex<double> direction(const std::vector<std::int64_t>& times, double period) {
    std::complex<double> sum;
    for (const std::int64_t time : times)
        sum += std::polar(1.0, 2 * kPi * static_cast<double>(time) / period);
    return times.empty() ? sum : sum / static_cast<double>(times.size());
}

double alike(const std::vector<std::vector<std::int64_t>>& lines, double period) {
    double sum = 0;
    for (const auto& times : lines) sum += std::abs(direction(times, period));
    return sum / static_cast<double>(lines.size());
}

// The one of all lines from `from` to `to`, in steps of `step`.
double best_period(const std::vector<std::vector<std::int64_t>>& lines, double from, double to, double step) {
    double best = from, most = 0;
    for (double period = from; period <= to; period += step) {
        const double found = alike(lines, period);
        if (found <= most) continue;
        most = found;
        best = period;
    }
    return best;
}

void record(const char* set, std::size_t stride) {
    const std::vector<Line> lines = read_lines(stride);
    int device_khz = 0;
    check_cuda(cudaDeviceGetAttribute(&device_khz, cudaDevAttrClockRate, 0), "asking for the clock");
    const double ghz = device_khz / 1e6;  // an idle GPU's is its highest
    std::vector<std::vector<std::int64_t>> slow;
    for (const Line& line : lines) slow.push_back(slow_ones(line, ghz));
    constexpr double kCoarse = 1, kFine = 0.05;
    constexpr std::ptrdiff_t kEnough = 16;  // lines, to find about the period
    const double about = best_period({slow.begin(), slow.begin() + kEnough}, 1000, 8000, kCoarse);
    const double period = best_period(slow, about - kCoarse, about + kCoarse, kFine);
    for (int i = 0; i < kLines; ++i) {
        const auto line = static_cast<std::size_t>(i);
        const std::complex<double> when = direction(slow[line], period);
        const double turn = std::arg(when) / (2 * kPi);
        std::printf("%s,%d,%.2f,%.2f,%.0f,%.3f", set, i, period, std::abs(when),
                    (turn < 0 ? turn + 1 : turn) * period, static_cast<double>(slow[line].size()) / kLoads);
        for (const double share : {0.01, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99})
            std::printf(",%.0f", percentile(lines[line], share) / ghz);
        std::printf("\n");
    }
}

}  // namespace

int main() {
    try {
        std::printf(
            "lines,line,period_ns,alike,phase_ns,slow,p1_ns,p10_ns,p25_ns,p50_ns,p75_ns,p90_ns,p99_ns\n");
        record("next", 128);
        record("apart", 37 * 4096 + 256);
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return static_cast<int>(error.code());
    }
}
