// SPDX-License-Identifier: Apache-2.0
// l2lens_gpu_clock_course: the SM clock from the moment on when tensor cores begin to multiply, as rows of
// traces/h200/clock_course.csv (its README says what the columns are).
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <numeric>
#include <thread>
#include <vector>

#include <cuda.h>

#include "base/error.hpp"

#include "gpu/cuda_check.hpp"
#include "gpu/device_buffer.hpp"
#include "gpu/kernels/tensor_map.hpp"
#include "gpu/probe/bench.hpp"
#include "gpu/probe/device_side.cuh"
#include "gpu/tests/copy_ring.cuh"
#include "gpu/tests/math_steps.cuh"
#include "gpu/tests/meeting.cuh"
#include "gpu/tests/recorder.hpp"
#include "gpu/tests/row_boxes.cuh"

using namespace l2lens;
using namespace l2lens::gpu;
using namespace l2lens::gpu::row_boxes;

namespace {

constexpr int kMostInFlight = 4;
constexpr int kThreads = math_steps::kThreads + 64;  // a warp reads, one looks at the clocks
constexpr int kReader = math_steps::kThreads;
constexpr int kWatcher = math_steps::kThreads + 32;
constexpr long long kWindowNs = 10'000;
constexpr int kWindows = 100;
constexpr int kReadings = 3;
constexpr auto kPause = std::chrono::milliseconds(30);  // in which the chip has nothing to do

// What all SMs do.
struct Load {
    double math_share;  // of the time their tensor cores work, but for what steps lose between them
    int in_flight;      // boxes of the L2 that each reads
    int idle_us;        // before either
};

struct Job {
    CUtensorMap boxes;
    int in_flight;
    long long step_cycles;  // from one step to the next; 0: no steps
    long long idle_ns;
    Meeting* meeting;
    long long* clocks;  // by SM, kWindows + 1 of each, between windows
    int* steps;         // by SM
    float* sink;
};

__device__ void wait_until(long long ns) {
    while (global_timer() < ns) {
    }
}

__device__ void watch(long long* clocks, long long from) {
    for (int i = 0; i <= kWindows; ++i) {
        wait_until(from + i * kWindowNs);
        clocks[i] = clock64();
    }
}

__device__ void read(const Job& job, int sm, std::uint32_t to, std::uint64_t* barriers, long long until) {
    CopyRing ring(barriers, job.in_flight);
    ResidentWalk start_next(job.boxes, kBoxBytes, sm * kBoxRows, to);
    ring.begin(start_next);
    while (global_timer() < until) ring.turn(start_next);
    ring.finish();
}

__device__ void compute(const Job& job, int sm, std::uint32_t operands, long long until) {
    long long next = clock64();
    const int steps = math_steps::run(
        operands, job.sink + sm * math_steps::kThreads, [&] { return global_timer() >= until; },
        [&] {
            next += job.step_cycles;
            while (clock64() < next) {
            }
        });
    if (threadIdx.x == 0) job.steps[sm] = steps;
}

__global__ void course_kernel(const __grid_constant__ Job job) {
    extern __shared__ std::uint8_t raw[];
    __shared__ std::uint64_t barriers[kMostInFlight];
    __shared__ long long start;
    const auto sm = static_cast<int>(sm_id());
    const std::uint32_t operands = math_steps::place_operands(raw);
    if (threadIdx.x == 0) start = meet(job.meeting, static_cast<int>(blockIdx.x), gridDim.x);
    __syncthreads();
    const long long from = start + job.idle_ns;
    const long long until = from + kWindows * kWindowNs;
    const auto thread = static_cast<int>(threadIdx.x);
    if (thread == kWatcher) watch(job.clocks + sm * (kWindows + 1), from);
    wait_until(from);
    if (thread < math_steps::kThreads && job.step_cycles > 0) compute(job, sm, operands, until);
    if (thread == kReader && job.in_flight > 0)
        read(job, sm, operands + math_steps::kOperandBytes, barriers, until);
}

struct Course {
    double tflops;            // in the mean of all windows
    std::vector<double> ghz;  // by window, in the mean of all SMs
};

Course watch(const ProbeBench& bench, const Load& load) {
    const auto sms = static_cast<std::size_t>(bench.sms());
    DeviceBuffer<Meeting> meeting(1);
    DeviceBuffer<long long> clocks(sms * (kWindows + 1));
    DeviceBuffer<int> steps(sms);
    const DeviceBuffer<float> sink(sms * math_steps::kThreads);
    meeting.fill_bytes(0);
    steps.fill_bytes(0);
    const Job job{
        tile_map(bench.buffer(), static_cast<std::int64_t>(bench.sms()) * kBoxRows, kColumns, kBoxRows),
        load.in_flight,
        load.math_share > 0 ? static_cast<long long>(math_steps::kCycles / load.math_share) : 0,
        load.idle_us * 1000,
        meeting.get(),
        clocks.get(),
        steps.get(),
        sink.get()};
    const int shared = probe::prepare_one_cta_per_sm(course_kernel) - kAlignment;
    std::this_thread::sleep_for(kPause);
    course_kernel<<<static_cast<unsigned>(bench.sms()), kThreads, static_cast<std::size_t>(shared)>>>(job);
    check_launch("watching the clock");

    const std::vector<long long> seen = clocks.to_host();
    const std::vector<int> done = steps.to_host();
    Course course{
        std::accumulate(done.begin(), done.end(), 0.0) * math_steps::kFlops / (kWindows * kWindowNs) / 1000,
        std::vector<double>(kWindows)};
    for (std::size_t at = 0; at < seen.size(); ++at) {
        const std::size_t window = at % (kWindows + 1);
        if (window < kWindows)
            course.ghz[window] += static_cast<double>(seen[at + 1] - seen[at]) /
                                  static_cast<double>(kWindowNs) / static_cast<double>(sms);
    }
    return course;
}

void record(const ProbeBench& bench, const Load& load) {
    for (int reading = 0; reading < kReadings; ++reading) {
        const Course course = watch(bench, load);
        for (int window = 0; window < kWindows; ++window)
            std::printf("%g,%d,%d,%d,%.0f,%lld,%.3f\n", load.math_share, load.in_flight, load.idle_us,
                        reading, course.tflops, (window * kWindowNs + kWindowNs / 2) / 1000,
                        course.ghz[static_cast<std::size_t>(window)]);
        std::fflush(stdout);
    }
}

void record_all(const ProbeBench& bench) {
    std::printf("math_share,in_flight,idle_us,reading,tflops,middle_us,ghz\n");
    for (const int in_flight : {0, 4})
        for (const double math_share : {0.0, 0.3, 0.5, 0.7, 0.8, 1.0})
            record(bench, {math_share, in_flight, 0});
    for (const int idle_us : {0, 200}) record(bench, {0.8, 1, idle_us});
}

}  // namespace

int main(int count, char**) {
    return run_recorder("l2lens_gpu_clock_course", count, [](ProbeBench& bench) {
        if (!bench.has_clusters()) throw Unavailable("tensor boxes need compute capability 9.0 or newer");
        record_all(bench);
    });
}
